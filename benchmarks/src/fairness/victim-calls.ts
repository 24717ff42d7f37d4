import { randomUUID } from 'node:crypto';

import { Pool } from 'undici';

import type { Arena } from './arena.ts';
import type { SteadyCall } from './steady-calls.ts';

/** More than are under way at 20 per second beside an acquirer that takes three seconds. */
const CONNECTIONS = 256;

const CUSTOMER = { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' };

/** Ways in which a victim uses the API, each measured from the time at which it was meant to begin. */
export function createVictimCalls({ stack, victim, webhooks }: Arena) {
  const pool = new Pool(stack.gateway_url, { connections: CONNECTIONS });
  return { createCharge, read, webhookOfCharge, payOut, payOutUntilSent };

  function createCharge(): SteadyCall {
    return fromIntended(async () => (await post('/v1/charges', aCharge())) !== null);
  }

  function read(path: string): SteadyCall {
    return fromIntended(async () => {
      const { statusCode, body } = await pool.request({ method: 'GET', path, headers: headers() });
      await body.dump();
      return statusCode === 200;
    });
  }

  /** From the answer of the creation to the arrival of its event. */
  function webhookOfCharge(): SteadyCall {
    return async () => {
      const id = await post('/v1/charges', { ...aCharge(), webhook_url: webhooks.urlOf('/hook') });
      return id === null ? null : await sinceNow(webhooks.arrival('charge.pix.emitted', id));
    };
  }

  function payOut(): SteadyCall {
    return fromIntended(async () => (await post('/v1/payouts', aPayout())) !== null);
  }

  /** From the answer of the creation to the event that it was sent to the provider. */
  function payOutUntilSent(): SteadyCall {
    return async () => {
      const body = { ...aPayout(), webhook_url: webhooks.urlOf('/hook') };
      const id = await post('/v1/payouts', body);
      return id === null ? null : await sinceNow(webhooks.arrival('payment.pix.processing', id));
    };
  }

  function headers(): Record<string, string> {
    return { 'x-api-key': victim.key };
  }

  async function post(path: string, body: object): Promise<string | null> {
    const response = await pool.request({
      method: 'POST',
      path,
      headers: {
        ...headers(),
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body: JSON.stringify(body),
    });
    const { id } = (await response.body.json()) as { id: string };
    return response.statusCode === 201 ? id : null;
  }
}

function fromIntended(isDone: () => Promise<boolean>): SteadyCall {
  return async (intendedMs) => ((await isDone()) ? performance.now() - intendedMs : null);
}

async function sinceNow(arrival: Promise<number | null>): Promise<number | null> {
  const answeredMs = performance.now();
  const arrivedMs = await arrival;
  return arrivedMs === null ? null : Math.max(0, arrivedMs - answeredMs);
}

export function aCharge() {
  return { amount: 1_000, customer: CUSTOMER };
}

export function aPayout(pixKey = 'joao@example.com') {
  return { amount: 500, pix_key_type: 'email', pix_key: pixKey };
}
