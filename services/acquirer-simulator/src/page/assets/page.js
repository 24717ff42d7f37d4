// Makes the calls of the page's forms, and shows what has changed since. Plain script of a browser.

const REFRESH_EVERY_MS = 2_000;
const AMOUNT = /^(\d{1,9})(?:[.,](\d{2}))?$/;

document.addEventListener('submit', (event) => {
  event.preventDefault();
  void call(event.target);
});

setInterval(() => {
  if (!isInUse() && !document.hidden) void refresh(isInUse).catch(() => undefined);
}, REFRESH_EVERY_MS);

async function call(form) {
  const { method, path } = form.dataset;
  const submit = form.querySelector('button');
  submit.disabled = true;
  try {
    const answer = await fetch(path, { method, ...bodyOf(method, form) });
    const text = await answer.text();
    say(`${method} ${path}: ${answer.status} ${text}`, answer.ok);
    if (answer.ok) await refresh();
  } catch (error) {
    say(`${method} ${path}: ${error.message}`, false);
  } finally {
    submit.disabled = false;
  }
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
    if (text === '') continue;
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
  return Number(parts[1]) * 100 + Number(parts[2] ?? 0);
}

/** Whoever writes into a field keeps it, and a button that is being pressed stays where it is. */
function isInUse() {
  const isWriting = document.activeElement?.matches('main input, main textarea') ?? false;
  return isWriting || document.querySelector('main:active') !== null;
}

async function refresh(isUnwanted = () => false) {
  const answer = await fetch('/');
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  if (isUnwanted()) return;
  document.querySelector('main').replaceWith(page.querySelector('main'));
}

function say(text, ok) {
  const output = document.querySelector('#answer');
  output.textContent = text;
  output.className = ok ? 'ok' : 'failed';
}
