import { setTimeout as delay } from 'node:timers/promises';
import type { StackFile } from '../mesh/stack-file.ts';
import { StartupFailure } from '../startup-failure.ts';

const REQUEST_LIMIT_MS = 10_000;
const POLL_INTERVAL_MS = 25;
/** Everything the demo waits for has to happen within this time. */
export const DEMO_LIMIT_MS = 20_000;

export interface DemoCharge {
  id: string;
  status: string;
  amount: number;
}

/** One request that the development receiver was sent (design section 5). */
export interface ReceivedRequest {
  sequence: number;
  headers: Record<string, string>;
  body: string;
  body_base64: string;
  received_at: string;
}

export interface DemoClient {
  createCharge(body: object, idempotencyKey: string): Promise<DemoCharge>;
  getCharge(id: string): Promise<DemoCharge>;
  /** Cents. */
  getAvailable(): Promise<number>;
  pay(chargeId: string): Promise<void>;
  listReceived(path: string): Promise<ReceivedRequest[]>;
}

/** The calls of the demo; an answer outside 2xx fails it with what was asked and answered. */
export function createDemoClient(stack: StackFile): DemoClient {
  const key = { 'x-api-key': stack.api_key };
  const api = `${stack.gateway_url}/v1`;
  return {
    createCharge: (body, idempotencyKey) =>
      call<DemoCharge>('POST', `${api}/charges`, {
        headers: { ...key, 'idempotency-key': idempotencyKey },
        body,
      }),
    getCharge: (id) => call<DemoCharge>('GET', `${api}/charges/${id}`, { headers: key }),
    getAvailable: async () => {
      const balance = await call<{ available: number }>('GET', `${api}/balance`, { headers: key });
      return balance.available;
    },
    pay: async (chargeId) => {
      await call('POST', `${stack.simulator_url}/control/charges/${chargeId}/pay`, { body: {} });
    },
    listReceived: async (path) => {
      const query = `path=${encodeURIComponent(path)}&limit=100`;
      const answer = await call<{ data?: ReceivedRequest[] } | ReceivedRequest[]>(
        'GET',
        `${stack.receiver_url}/requests?${query}`,
        {},
      );
      return Array.isArray(answer) ? answer : (answer.data ?? []);
    },
  };
}

/** Asks again and again until `check` is content; fails loudly when the time is over. */
export async function until<T>(
  what: string,
  ask: () => Promise<T>,
  check: (value: T) => boolean,
): Promise<T> {
  const deadline = performance.now() + DEMO_LIMIT_MS;
  for (;;) {
    const value = await ask();
    if (check(value)) return value;
    if (performance.now() > deadline) {
      throw new StartupFailure(`${what} did not happen within ${DEMO_LIMIT_MS / 1000} s`);
    }
    await delay(POLL_INTERVAL_MS);
  }
}

async function call<T>(
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
  const path = new URL(url).pathname;
  throw new StartupFailure(`${method} ${path} answered ${response.status}: ${text.slice(0, 500)}`);
}
