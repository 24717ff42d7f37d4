import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { sql } from '@pixmesh/postgres/sql';
import { testSeed } from '@pixmesh/testkit/test-seed';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { OracleCommand } from '#test/oracle.ts';

import { auditBooks } from './audit-books.sql.ts';
import { type ModelProcess, startModelProcess } from './model-process.ts';
import { readAccounts } from './read-books.sql.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';

/** Many holds on funds for exactly k of them, amount and fee both counted (target L3). */
const RACES = scaled(15, 1_000);
const HOLDS = 64;
const PROCESSES = 4;
const TIMEOUT_MS = scaled(60_000, 900_000);
const SEED = testSeed();

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let processes: ModelProcess[];
let random: SeededRandom;

beforeAll(async () => {
  database = await createTestDatabase('ledger');
  random = seededRandom(SEED);
  processes = Array.from({ length: PROCESSES }, () =>
    startModelProcess(database.url, random, { crashes: false }),
  );
});
afterAll(async () => {
  for (const process of processes) await process[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

test(
  `of ${HOLDS} holds on funds for k, exactly k are taken (${RACES} races, PIXMESH_TEST_SEED=${SEED})`,
  { timeout: TIMEOUT_MS },
  async () => {
    for (let race = 1; race <= RACES; race += 1) await raceForFunds(race);
    expect(await auditBooks(database.db)).toEqual([]);
  },
);

async function raceForFunds(number: number): Promise<void> {
  const accountId = random.id();
  const [amount, fee] = [1 + random.below(1_000), random.below(200)];
  const k = random.below(HOLDS + 1);
  // Equality is enough (decision 114); whatever is left over is less than one more hold needs.
  const rest = random.below(amount + fee);
  const funds = k * (amount + fee) + rest;
  if (funds > 0) expect(await submit(aReceivedPixCredit(accountId, funds))).toBe('booked');
  const reader = watch(accountId, funds);
  const words = await Promise.all(
    Array.from({ length: HOLDS }, () => submit(aTake(accountId, amount, fee))),
  );
  const reads = await reader.stop();
  const taken = words.filter((word) => word === 'booked').length;
  const refused = words.filter((word) => word === 'insufficient_balance').length;
  const row = (await readAccounts(database.db, [accountId])).get(accountId);
  const race = { number, k, amount, fee };
  const [available, held] = [row?.['available'] ?? 0, row?.['held'] ?? 0];
  expect({ ...race, taken, refused, wrong: reads.wrong, available, held }).toEqual({
    ...race,
    taken: k,
    refused: HOLDS - k,
    wrong: [],
    available: rest,
    held: funds - rest,
  });
}

type Snapshot = { available: bigint; pending: bigint; held: bigint; entries: bigint };

/** Reads the balance as long as the race lasts: in no snapshot is it below zero or anything missing. */
function watch(accountId: string, funds: number) {
  const wrong: string[] = [];
  const over = new AbortController();
  let count = 0;
  const reading = (async () => {
    do {
      const [row] = await database.db.query<Snapshot>(sql`
        select
          available, pending, held,
          (select coalesce(sum(amount), 0)::bigint from entries
           where entries.account_id = accounts.account_id and kind = 'available') as entries
        from accounts where account_id = ${accountId}`);
      count += 1;
      if (!row) continue;
      const { available, pending, held, entries } = row;
      if (available < 0n) wrong.push(`available is ${available}`);
      if (available + pending + held !== BigInt(funds))
        wrong.push('money is missing in a snapshot');
      if (entries !== available) wrong.push(`entries are ${entries}, available ${available}`);
    } while (!over.signal.aborted);
  })();
  return {
    stop: async () => {
      over.abort();
      await reading;
      return { wrong, count };
    },
  };
}

async function submit(command: OracleCommand): Promise<string> {
  const reply = await random.pick(processes).submit(command);
  return reply!.word;
}

function aReceivedPixCredit(accountId: string, amount: number): OracleCommand {
  const told = { id: random.id(), subject: random.id(), accountId };
  return { ...told, kind: 'credit', amount, releaseAtMs: null };
}

function aTake(accountId: string, amount: number, fee: number): OracleCommand {
  const [holdId, resourceId] = [random.id(), random.id()];
  const hold = { accountId, holdId, resourceId, amount, fee };
  return { ...hold, id: holdId, kind: 'take', pix: null };
}
