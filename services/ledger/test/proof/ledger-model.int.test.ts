import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { testSeed } from '@pixmesh/testkit/test-seed';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { auditBooks } from './audit-books.sql.ts';
import { runModel } from './model-run.ts';

/** `PIXMESH_TEST_SEED=… vitest run --project int services/ledger/src/proof/ledger-model` repeats a failure. */
const SEED = testSeed();
const STEPS = scaled(2_500, 1_050_000);
const BREAKS_SHOWN = 10;
const TIMEOUT_MS = scaled(120_000, 3_600_000);

/** Ways in which a command may end that come once in thousands of steps. */
const RARE_WORDS = ['release of a block', 'forced debit'];
/** Every way in which a command may end that is not rejected: a run goes on until each has come. */
const WORDS = [
  ...scaled([], RARE_WORDS),
  'take booked',
  'take insufficient_balance',
  'take resource_held',
  'take voided',
  'void noted',
  'void already_held',
  'settle booked',
  'settle already_released',
  'settle already_voided',
  'release booked',
  'release noted',
  'release already_settled',
  'release already_voided',
  'credit booked',
  'make_available booked',
  'suspend booked',
  'payout_return booked',
  'payout_suspend booked',
  'tariff booked',
  'block booked',
  'unblock booked',
  'dispute_return booked',
  'pix_return booked',
  'resolve booked',
  'give booked',
  'take unknown_pix',
  'take exceeds_received',
  'take of a block',
  'block noted',
  'unblock noted',
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
    const report = await runModel({ seed: SEED, steps: STEPS, words: WORDS, url, db });
    expect(report.breaks.slice(0, BREAKS_SHOWN), `PIXMESH_TEST_SEED=${SEED}`).toEqual([]);
    expect(report.steps).toBeGreaterThanOrEqual(STEPS);
    expect([...report.words.keys()]).toEqual(expect.arrayContaining(WORDS));
    expect([...report.crashes.keys()].sort()).toEqual([
      'after commit',
      'after statement',
      'before commit',
      'before statement',
    ]);
    expect(await auditBooks(db)).toEqual([]);
  },
);
