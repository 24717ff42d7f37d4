import { setTimeout as delay } from 'node:timers/promises';
import { StartupFailure } from './startup-failure.ts';

const REQUEST_LIMIT_MS = 10_000;
const POLL_INTERVAL_MS = 25;
const EXCERPT_CHARACTERS_MAX = 500;
/** Everything the demo waits for has to happen within this time. */
const WAIT_LIMIT_MS = 20_000;

/** One request with a JSON body; an answer outside 2xx fails with what was asked and answered. */
export async function call<T>(
  method: string,
  url: string,
  input: { headers?: Record<string, string>; body?: object },
): Promise<T> {
  const response = await fetch(url, {
    method,
    headers: { ...input.headers, ...(input.body ? { 'content-type': 'application/json' } : {}) },
    signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    ...(input.body ? { body: JSON.stringify(input.body) } : {}),
  });
  const text = await response.text();
  if (response.ok) return (text === '' ? undefined : JSON.parse(text)) as T;
  const excerpt = text.slice(0, EXCERPT_CHARACTERS_MAX);
  throw new StartupFailure(
    `${method} ${new URL(url).pathname} answered ${response.status}: ${excerpt}`,
  );
}

/** Whether a GET is answered with 200 within the limit. */
export async function answersOk(url: string, limitMs: number): Promise<boolean> {
  return (await readOk(url, limitMs)) !== undefined;
}

/** The body of a GET that is answered with 200 within the limit. */
export async function readOk(url: string, limitMs: number): Promise<string | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(limitMs) });
    const body = await response.text();
    return response.status === 200 ? body : undefined;
  } catch {
    return undefined;
  }
}

/** Asks again and again until `check` is content; fails loudly when the time is over. */
export async function until<T>(
  what: string,
  ask: () => Promise<T>,
  check: (value: T) => boolean,
): Promise<T> {
  const deadline = performance.now() + WAIT_LIMIT_MS;
  for (;;) {
    const value = await ask();
    if (check(value)) return value;
    if (performance.now() > deadline) {
      throw new StartupFailure(`${what} did not happen within ${WAIT_LIMIT_MS / 1000} s`);
    }
    await delay(POLL_INTERVAL_MS);
  }
}

export function expect(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new StartupFailure(otherwise);
}
