// Makes the calls of the page's forms, and shows what has changed since. Plain script of a browser.

const REFRESH_EVERY_MS = 2_000;
/** A simulator that does not answer for so long is asked again. */
const REFRESH_TIMEOUT_MS = 10_000;
const AMOUNT = /^(-?)(\d{1,9})(?:[.,](\d{2}))?$/;

document.addEventListener('submit', (event) => {
  event.preventDefault();
  void call(event.target);
});

void keepFresh();

/** Goes on whatever comes of a refresh: the simulator may be away, busy or of another version for a while. */
async function keepFresh() {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, REFRESH_EVERY_MS));
    if (isInUse() || document.hidden) continue;
    await refresh().catch(() => undefined);
  }
}

async function call(form) {
  const { method } = form.dataset;
  const path = pathOf(form);
  const submit = form.querySelector('button');
  submit.disabled = true;
  // What this form was given is sent; only what is written from now on must outlast the refresh.
  if (form.contains(document.activeElement)) document.activeElement.blur();
  try {
    const answer = await fetch(path, { method, ...bodyOf(method, form) });
    const text = await answer.text();
    say(`${method} ${path}: ${answer.status} ${text}`, answer.ok);
    if (answer.ok) await refresh().catch(() => undefined);
  } catch (error) {
    say(`${method} ${path}: ${error.message}`, false);
  } finally {
    submit.disabled = false;
  }
}

/** Ids that the form asks for take the places that the address holds for them. */
function pathOf(form) {
  let { path } = form.dataset;
  for (const { name, value } of form.querySelectorAll('[data-as="path"]')) {
    path = path.replace(`:${name}`, () => encodeURIComponent(value.trim()));
  }
  return path;
}

function bodyOf(method, form) {
  if (method === 'DELETE') return {};
  const body = readBody(form);
  return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
}

function readBody(form) {
  const body = JSON.parse(form.dataset.body);
  for (const field of form.querySelectorAll('[data-as]')) {
    const text = field.value.trim();
    if (text === '' || field.dataset.as === 'path') continue;
    if (field.dataset.as === 'json') Object.assign(body, JSON.parse(text));
    else body[field.name] = readValue(field.dataset.as, text);
  }
  return body;
}

function readValue(kind, text) {
  if (kind === 'text') return text;
  if (kind === 'int') return Number(text);
  const parts = AMOUNT.exec(text);
  if (parts === null) throw new Error(`expected an amount such as 10.00, not ${text}`);
  const cents = Number(parts[2]) * 100 + Number(parts[3] ?? 0);
  return parts[1] === '-' ? -cents : cents;
}

/** Whoever writes into a field keeps it, and a button that is being pressed stays where it is. */
function isInUse() {
  const isWriting = document.activeElement?.matches('main input, main textarea') ?? false;
  return isWriting || document.querySelector('main:active') !== null;
}

/**
 * Shows what has changed, unless the user has begun to write or press meanwhile. Where that fails, what is shown stays,
 * under a line that says how old it is.
 */
async function refresh() {
  try {
    const main = await fetchMain();
    showStale(null);
    if (!isInUse()) document.querySelector('main').replaceWith(main);
  } catch (error) {
    showStale(error.message);
    throw error;
  }
}

async function fetchMain() {
  const answer = await fetch('/', { signal: AbortSignal.timeout(REFRESH_TIMEOUT_MS) });
  if (!answer.ok) throw new Error(`the simulator answered ${answer.status}`);
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const main = page.querySelector('main');
  if (main === null) throw new Error('the simulator answered something else than its page');
  return main;
}

function showStale(reason) {
  const line = document.querySelector('#stale');
  if (reason === null) {
    line.hidden = true;
    return;
  }
  if (line.hidden) line.dataset.since = new Date().toLocaleTimeString();
  line.textContent = `Not refreshed since ${line.dataset.since}: ${reason}; trying again`;
  line.hidden = false;
}

function say(text, ok) {
  const output = document.querySelector('#answer');
  output.textContent = text;
  output.className = ok ? 'ok' : 'failed';
}
