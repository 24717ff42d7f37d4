import { randomUUID } from 'node:crypto';

import { eventually } from '@pixmesh/testkit/eventually';
import type { Answer, Json, Merchant } from './mesh.ts';
import { createPayout, payoutIdOf } from './payout-calls.ts';

const ANSWER_MS_MAX = 90_000;

/** One call as its client saw it. `unknown`: a 500, or no answer at all. */
export type PayoutCall = {
  merchant: Merchant;
  key: string;
  /** Computed from the key, so that a call whose answer was lost can be looked up too. */
  id: string;
  outcome: 'ok' | 'refused' | 'unknown';
  status: number | null;
  isReplayed: boolean;
  body: Json;
};

/** What the clients of a test asked for and were told: the first of the checker's records. */
export type ClientHistory = {
  readonly calls: readonly PayoutCall[];
  createPayout(merchant: Merchant, changes?: object, key?: string): Promise<PayoutCall>;
  /** Repeats with the same key until there is an answer, as the specification tells clients to do. */
  createPayoutStubbornly(merchant: Merchant, changes?: object, key?: string): Promise<PayoutCall>;
};

export function createClientHistory(): ClientHistory {
  const calls: PayoutCall[] = [];
  return { calls, createPayout: record, createPayoutStubbornly: recordStubbornly };

  async function record(
    merchant: Merchant,
    changes: object = {},
    key: string = randomUUID(),
  ): Promise<PayoutCall> {
    const asked = { merchant, key, id: payoutIdOf(merchant, key) };
    const done = await createPayout(merchant, changes, key).then(
      (answer) => ({ ...asked, ...readOutcome(answer) }),
      () => ({ ...asked, ...NO_ANSWER }),
    );
    calls.push(done);
    return done;
  }

  async function recordStubbornly(
    merchant: Merchant,
    changes: object = {},
    key: string = randomUUID(),
  ): Promise<PayoutCall> {
    return await eventually(async () => {
      const done = await record(merchant, changes, key);
      if (done.outcome === 'unknown') throw new Error(`no answer to ${key}`);
      return done;
    }, ANSWER_MS_MAX);
  }
}

const NO_ANSWER = { outcome: 'unknown', status: null, isReplayed: false, body: null } as const;

function readOutcome({
  status,
  headers,
  body,
}: Answer): Omit<PayoutCall, 'merchant' | 'key' | 'id'> {
  return {
    outcome: status === 201 ? 'ok' : status < 500 ? 'refused' : 'unknown',
    status,
    isReplayed: headers.get('idempotent-replayed') === 'true',
    body,
  };
}
