import { createPool } from '@pixmesh/postgres/pool';
import { sampled, scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { testSeed } from '@pixmesh/testkit/test-seed';
import { expect, test } from 'vitest';

import { auditBooks } from '#test/audit-books.sql.ts';
import { REAL_PARTS } from './model-process.ts';
import { runModel } from './model-run.ts';
import { HONEST_BATCH, type PlantedBug, PLANTED_BUGS } from './planted-bugs.ts';

/** Enough for every kind of command to come many times; what few orders of commands show may need many seeds. */
const STEPS_MAX = 2_500;
const SEEDS_MAX = 60;
const HONEST_STEPS = scaled(800, STEPS_MAX);
/** Each takes seconds; `npm run test:long` plants all of them. */
const BUGS = sampled(PLANTED_BUGS, 1);
const TIMEOUT_MS = 300_000;
/** Class of Postgres's error codes. */
const INTEGRITY_VIOLATION = '23';
const SEED = testSeed();

test(
  `the model finds nothing where nothing is wrong (PIXMESH_TEST_SEED=${SEED})`,
  { timeout: TIMEOUT_MS },
  async () => {
    const honest = { name: 'none', runBatch: HONEST_BATCH };
    expect(await findBreaks(honest, SEED, HONEST_STEPS)).toEqual([]);
  },
);

test.each(BUGS)(
  `the model finds: $name (PIXMESH_TEST_SEED=${SEED})`,
  { timeout: TIMEOUT_MS },
  async (bug) => {
    let breaks: string[] = [];
    for (let seed = SEED; seed < SEED + SEEDS_MAX && breaks.length === 0; seed += 1) {
      breaks = await findBreaks(bug, seed).catch(asRefused);
    }
    expect(breaks).not.toEqual([]);
  },
);

async function findBreaks(bug: PlantedBug, seed: number, steps = STEPS_MAX): Promise<string[]> {
  await using database = await createTestDatabase('ledger');
  await takeAway(database.adminUrl, bug);
  const { url, db } = database;
  const { tamper = REAL_PARTS.tamper, runBatch } = bug;
  const report = await runModel({
    seed,
    steps,
    url,
    db,
    parts: { ...REAL_PARTS, tamper },
    ...(runBatch ? { runBatch } : {}),
  });
  return [...report.breaks, ...(await auditBooks(db))];
}

/** The database refusing what a bug writes is one way in which it is found; any other failure proves nothing. */
function asRefused(error: unknown): string[] {
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && code.startsWith(INTEGRITY_VIOLATION)) return [String(error)];
  throw error;
}

async function takeAway(adminUrl: string, { without = [] }: PlantedBug): Promise<void> {
  await using admin = createPool({ url: adminUrl, applicationName: 'planted-bugs', max: 1 });
  for (const statement of without) await admin.query(statement);
}
