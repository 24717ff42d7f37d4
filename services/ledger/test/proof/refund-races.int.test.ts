import { deriveCommandId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { testSeed } from '@pixmesh/testkit/test-seed';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { OracleCommand } from '#test/oracle.ts';

import { auditBooks } from './audit-books.sql.ts';
import { endIdOf } from './model-hold-commands.ts';
import { type ModelProcess, startModelProcess } from './model-process.ts';
import { readAccounts, readPix } from './read-books.sql.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';

/** Refunds and MED returns of one Pix, all at once through several processes (target L10). */
const RACES = scaled(20, 1_500);
const CONTENDERS = 32;
const PROCESSES = 4;
/** Beside the Pix, or less than it: part of it has been paid out. */
const OTHER_FUNDS = [0, 700, -400] as const;
const PIX = 1_000;
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
  `refunds and returns of a Pix never exceed it, to the cent (${RACES} races of ${CONTENDERS}, PIXMESH_TEST_SEED=${SEED})`,
  { timeout: TIMEOUT_MS },
  async () => {
    const seen = new Set<string>();
    for (let race = 1; race <= RACES; race += 1) await raceForPix(seen);
    expect(await auditBooks(database.db)).toEqual([]);
    // Each way to win or lose comes now and then: otherwise nothing was raced.
    expect([...seen].sort()).toEqual([
      'exceeds_received',
      'insufficient_balance',
      'released',
      'returned',
      'settled',
    ]);
  },
);

type Race = { accountId: string; subject: string; dispute: string; acquirer: Acquirer };
/** What the acquirer still lets go of the Pix: it arbitrates between refunds and the MED. */
type Acquirer = { left: number; refunded: number; returned: number };

async function raceForPix(seen: Set<string>): Promise<void> {
  const race: Race = {
    accountId: random.id(),
    subject: random.id(),
    dispute: random.id(),
    acquirer: { left: PIX, refunded: 0, returned: 0 },
  };
  const other = random.pick(OTHER_FUNDS);
  await fund(race, other);
  const isDisputed = random.chance(0.7);
  const contenders = Array.from({ length: CONTENDERS }, () =>
    random.chance(0.7) ? refund(race, seen) : medReturn(race, seen),
  );
  const watch = watchPix(race);
  await Promise.all([...contenders, ...(isDisputed ? [dispute(race, 'block')] : [])]);
  if (isDisputed) await dispute(race, 'unblock');
  expect(await watch.stop()).toEqual([]);
  await judge(race, other);
}

/** The Pix, and what else stands in the balance: another Pix, or a payout that has left. */
async function fund({ accountId, subject }: Race, other: number): Promise<void> {
  expect(await submit(aReceivedPixCredit(accountId, subject, PIX))).toBe('booked');
  if (other > 0)
    expect(await submit(aReceivedPixCredit(accountId, random.id(), other))).toBe('booked');
  if (other >= 0) return;
  const holdId = random.id();
  const hold = { accountId, holdId, resourceId: random.id() };
  const money = { pix: null, amount: -other, fee: 0 };
  expect(await submit({ ...hold, ...money, id: holdId, kind: 'take' })).toBe('booked');
  expect(await submit({ ...hold, id: endIdOf(holdId, 'settle'), kind: 'settle' })).toBe('booked');
}

/** Hold first, then the acquirer, then the end that the acquirer has decided; every command is told twice. */
async function refund(race: Race, seen: Set<string>): Promise<void> {
  const { accountId, subject, acquirer } = race;
  const amount = 1 + random.below(400);
  const holdId = random.id();
  const hold = { accountId, holdId, resourceId: random.id() };
  const take = { ...hold, id: holdId, kind: 'take', pix: subject, amount, fee: 0 } as const;
  const word = await submitTwice(take);
  if (word !== 'booked') {
    seen.add(word);
    return;
  }
  const isDone = random.chance(0.7) && acquirer.left >= amount;
  if (isDone) {
    acquirer.left -= amount;
    acquirer.refunded += amount;
  }
  const kind = isDone ? 'settle' : 'release';
  expect(await submitTwice({ ...hold, kind, id: endIdOf(holdId, kind) })).toBe('booked');
  seen.add(isDone ? 'settled' : 'released');
}

async function medReturn(race: Race, seen: Set<string>): Promise<void> {
  const { accountId, subject, dispute: disputeId, acquirer } = race;
  const amount = 1 + random.below(300);
  if (amount > acquirer.left) return;
  acquirer.left -= amount;
  acquirer.returned += amount;
  const told = { id: random.id(), accountId, subject, amount };
  const from = random.pick(['blocked', 'blocked', 'available'] as const);
  const command: OracleCommand = random.chance(0.7)
    ? { ...told, kind: 'dispute_return', dispute: disputeId, from }
    : { ...told, kind: 'pix_return' };
  expect(await submitTwice(command)).toBe('booked');
  seen.add('returned');
}

async function dispute(race: Race, kind: 'block' | 'unblock'): Promise<void> {
  const { accountId, subject, dispute: id } = race;
  const told = { accountId, subject, dispute: id, amount: PIX };
  expect(await submitTwice({ ...told, id: random.id(), kind })).toBeOneOf(['booked', 'noted']);
}

/** Every cent is where the acquirer says, and nothing is held or blocked any more. */
async function judge({ accountId, subject, acquirer }: Race, other: number): Promise<void> {
  const { refunded, returned } = acquirer;
  expect(refunded + returned).toBeLessThanOrEqual(PIX);
  const row = (await readAccounts(database.db, [accountId])).get(accountId)!;
  const available = PIX + other - refunded - returned;
  expect(row).toMatchObject({
    available,
    held: 0,
    blocked: 0,
    acquirer_clearing: 0 - available,
    fees: 0,
    forced: Math.max(0, -available),
  });
  const pix = (await readPix(database.db, [accountId])).find(({ name }) => name === subject);
  if (refunded + returned > 0 || pix) {
    expect(pix).toMatchObject({ received: PIX, refunding: 0, refunded, returned, blocked: 0 });
  }
}

type Snapshot = { blocked: bigint; gone: bigint; ofPix: bigint; total: bigint };

/** In no snapshot has more gone back than was received, or is anything blocked that no Pix explains. */
function watchPix({ accountId, subject }: Race) {
  const wrong: string[] = [];
  const over = new AbortController();
  const reading = (async () => {
    do {
      const [row] = await database.db.query<Snapshot>(sql`
        select
          accounts.blocked, pix_debits.blocked as "ofPix", refunded + returned as gone,
          available + held + accounts.blocked + acquirer_clearing as total
        from accounts join pix_debits using (account_id)
        where account_id = ${accountId} and end_to_end_id = ${subject}`);
      if (!row) continue;
      if (row.gone > BigInt(PIX)) wrong.push(`${row.gone} of ${PIX} are gone`);
      if (row.blocked !== row.ofPix) wrong.push(`${row.blocked} blocked, ${row.ofPix} of the Pix`);
      if (row.total !== 0n) wrong.push(`money is missing in a snapshot: ${row.total}`);
    } while (!over.signal.aborted);
  })();
  return {
    stop: async () => {
      over.abort();
      await reading;
      return wrong;
    },
  };
}

function aReceivedPixCredit(accountId: string, subject: string, amount: number): OracleCommand {
  const id = deriveCommandId('received_pix', subject);
  return { id, accountId, subject, kind: 'credit', amount, releaseAtMs: null };
}

/** Two tellings at once through any two processes: one outcome. */
async function submitTwice(command: OracleCommand): Promise<string> {
  const [one, other] = await Promise.all([submit(command), submit(command)]);
  expect(one).toBe(other);
  return one;
}

async function submit(command: OracleCommand): Promise<string> {
  const reply = await random.pick(processes).submit(command);
  return reply!.word;
}
