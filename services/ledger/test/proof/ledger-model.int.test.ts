import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { testSeed } from '@pixmesh/testkit/test-seed';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { auditBooks } from '#test/audit-books.sql.ts';
import type { CrashPlace } from './crashing-database.ts';
import { runModel } from './model-run.ts';

/** `PIXMESH_TEST_SEED=… vitest run --project int services/ledger/src/proof/ledger-model` repeats a failure. */
const SEED = testSeed();
const STEPS = scaled(1_500, 1_050_000);
const BREAKS_SHOWN = 10;
const TIMEOUT_MS = scaled(120_000, 3_600_000);

/** Ways in which a command may end that come once in thousands of steps. */
const RARE_WORDS = ['hold.release of a block', 'forced debit'];
/** Every way in which a command may end that is not rejected: a run goes on until each has come. */
const WORDS = [
  ...scaled([], RARE_WORDS),
  'hold.take booked',
  'hold.take insufficient_balance',
  'hold.take resource_held',
  'hold.take voided',
  'hold.void noted',
  'hold.void already_held',
  'hold.settle booked',
  'hold.settle already_released',
  'hold.settle already_voided',
  'hold.release booked',
  'hold.release noted',
  'hold.release already_settled',
  'hold.release already_voided',
  'received_pix.credit booked',
  'pending.release booked',
  'received_pix.suspend booked',
  'payout_return.credit booked',
  'payout.suspend booked',
  'acquirer_tariff.book booked',
  'dispute.block booked',
  'dispute.unblock booked',
  'dispute.return booked',
  'received_pix.return booked',
  'suspense.resolve booked',
  'suspense.credit booked',
  'hold.take unknown_pix',
  'hold.take exceeds_received',
  'hold.take of a block',
  'dispute.block noted',
  'dispute.unblock noted',
];
/** Every place at which a process may die or lose its connection: a run goes on until each was one. */
const PLACES: CrashPlace[] = [
  'after commit',
  'after statement',
  'before commit',
  'before statement',
];

let database: Awaited<ReturnType<typeof createTestDatabase>>;

beforeAll(async () => {
  database = await createTestDatabase('ledger');
});
afterAll(() => database[Symbol.asyncDispose]());

test(
  `the ledger agrees with an oracle in memory, whatever comes (PIXMESH_TEST_SEED=${SEED})`,
  { timeout: TIMEOUT_MS },
  async () => {
    const { url, db } = database;
    const report = await runModel({
      seed: SEED,
      steps: STEPS,
      words: WORDS,
      places: PLACES,
      url,
      db,
    });
    expect(report.breaks.slice(0, BREAKS_SHOWN), `PIXMESH_TEST_SEED=${SEED}`).toEqual([]);
    expect(report.steps).toBeGreaterThanOrEqual(STEPS);
    expect([...report.words.keys()]).toEqual(expect.arrayContaining(WORDS));
    expect([...report.crashes.keys()].sort()).toEqual(PLACES);
    expect(await auditBooks(db)).toEqual([]);
  },
);
