import { randomUUID } from 'node:crypto';

import { eventually } from '@pixmesh/testkit/eventually';
import { sampled, scaled } from '@pixmesh/testkit/long-runs';
import { testSeed } from '@pixmesh/testkit/test-seed';
import { expect, test } from 'vitest';

import { findUnexplainedBreaks } from '../find-breaks.ts';
import { findViolations } from '../find-violations.ts';
import { type ClientHistory, createClientHistory } from '../client-history.ts';
import { killProcess } from '../kill-process.ts';
import { admin, type Merchant, v1 } from '../mesh.ts';
import { aPayingMerchant, COST_CENTS, fund } from '../payout-calls.ts';

/**
 * What services stand on, and services: a usual run kills one of each, by its seed. Postgres before a service: the
 * receiver's minute, below, begins with its death.
 */
const VICTIMS = [
  ...sampled(['postgres', 'kafka'], 1),
  ...sampled(['payouts', 'ledger'], 1, Math.floor(testSeed() / 2)),
];
/** Fifty deaths and two more. */
const ROUNDS = scaled(1, 13);
const CLIENTS = 6;
const BACK_MS_MAX = 60_000;
/** Quiet time after which nothing may rest in between (I16). */
const REST_MS_MAX = 60_000;
/** The receiver has no database either while Postgres is away: what it could not store is sent again a minute later. */
const FIRST_RETRY_MS = 60_000;
const DELIVERED_MS_MAX = REST_MS_MAX + (VICTIMS.includes('postgres') ? FIRST_RETRY_MS : 0);
/** Money for as many payouts as the clients could possibly make in one kill. */
const FUNDED_PAYOUTS = 1_000;

test(`${VICTIMS.join(', ')} killed under load: every 201 exists, every hold ends once, no break is left`, async () => {
  const history = createClientHistory();
  const hookPath = `/${randomUUID()}`;
  const merchants = await Promise.all([aPayingMerchant(0), aPayingMerchant(0)]);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const victim of VICTIMS) {
      for (const merchant of merchants) await fund(merchant, FUNDED_PAYOUTS * COST_CENTS);
      const load = startLoad(history, merchants, hookPath);
      await eventually(() => expect(load.accepted()).toBeGreaterThan(CLIENTS), BACK_MS_MAX);
      const acceptedBefore = load.accepted();
      await killProcess(victim);
      // It serves again: so many more could not have been on their way.
      await eventually(
        () => expect(load.accepted()).toBeGreaterThan(acceptedBefore + 2 * CLIENTS),
        BACK_MS_MAX,
      );
      await load.stop();
    }
  }
  await eventually(async () => {
    for (const merchant of merchants) {
      const open = await v1(merchant, 'GET /payouts?status=processing&limit=1');
      expect(open.body.data).toEqual([]);
    }
  }, REST_MS_MAX);
  await eventually(async () => {
    expect(await findUnexplainedBreaks()).toEqual([]);
  }, REST_MS_MAX);
  await eventually(async () => {
    expect(await findViolations(history, { hookPath })).toEqual([]);
  }, DELIVERED_MS_MAX);
  expect((await admin('GET', '/admin/dead-letters')).body.data).toEqual([]);
  const unknown = history.calls.filter((one) => one.outcome === 'unknown').length;
  console.log(
    `${ROUNDS * VICTIMS.length} kills, ${history.calls.length} calls, ${unknown} unknown`,
  );
}, 10_800_000);

/** Clients that pay out without a pause. Every second unknown outcome they leave as it is, unasked for ever. */
function startLoad(
  history: ClientHistory,
  merchants: readonly Merchant[],
  hookPath: string,
): { accepted(): number; stop(): Promise<void> } {
  const stopping = new AbortController();
  let accepted = 0;
  let unknown = 0;
  const changes = { webhook_url: `http://a.receiver.example.com${hookPath}` };
  const client = async (merchant: Merchant): Promise<void> => {
    while (!stopping.signal.aborted) {
      const first = await history.createPayout(merchant, changes);
      if (first.outcome === 'ok') accepted += 1;
      if (first.outcome !== 'unknown') continue;
      unknown += 1;
      // One that answers follows in either case: nobody hammers a service that is away.
      const key = unknown % 2 === 0 ? first.key : randomUUID();
      await history.createPayoutStubbornly(merchant, changes, key);
      accepted += 1;
    }
  };
  const clients = merchants.flatMap((one) =>
    Array.from({ length: CLIENTS / merchants.length }, () => client(one)),
  );
  return {
    accepted: () => accepted,
    async stop() {
      stopping.abort();
      await Promise.all(clients);
    },
  };
}
