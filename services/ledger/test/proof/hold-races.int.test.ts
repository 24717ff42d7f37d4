import { isLong, scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { testSeed } from '@pixmesh/testkit/test-seed';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { OracleCommand } from '#test/oracle.ts';

import { auditBooks } from './audit-books.sql.ts';
import { type ModelProcess, startModelProcess } from './model-process.ts';
import { endIdOf } from './model-hold-commands.ts';
import { readAccounts, readHolds, readJournals } from './read-books.sql.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';

/** Take, settle, release and void of one hold, all at once through several processes (target L9). */
const HOLDS = scaled(300, 10_000);
const ACCOUNTS = 8;
const AMOUNT = 700;
const FEE = 35;
const TOTAL = AMOUNT + FEE;
const PROCESSES = 4;
/** Holds that are raced at the same time, so that races meet in batches too. */
const LANES = 25;
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

type Race = { accountId: string; holdId: string; replies: Map<string, string> };

test(
  `each hold has one end, and its money is in one place (${HOLDS} holds, PIXMESH_TEST_SEED=${SEED})`,
  { timeout: TIMEOUT_MS },
  async () => {
    const accounts = Array.from({ length: ACCOUNTS }, () => random.id());
    const funds = HOLDS * TOTAL;
    for (const accountId of accounts) await credit(accountId, funds);
    const races: Race[] = [];
    const waiting = Array.from({ length: HOLDS }, (_, index) => index).values();
    await Promise.all(
      Array.from({ length: LANES }, async () => {
        for (const index of waiting) races.push(await raceOne(accounts[index % ACCOUNTS]!));
      }),
    );
    const ends = await judgeEnds(races);
    await judgeMoney(accounts, races, funds);
    expect(await auditBooks(database.db)).toEqual([]);
    // Each end wins now and then: otherwise nothing was raced.
    expect([...ends].sort()).toEqual(['released', 'settled', 'voided']);
  },
);

test(
  'an outcome is the same for ever, however often it is asked for',
  { timeout: TIMEOUT_MS },
  async () => {
    const accountId = random.id();
    await credit(accountId, TOTAL * 40);
    const commands = Array.from({ length: 50 }, () => commandsOf(accountId).take);
    const first = await Promise.all(commands.map((command) => submit(command)));
    expect(new Set(first)).toEqual(new Set(['booked', 'insufficient_balance']));
    // What was refused stays refused when there is money again.
    await credit(accountId, TOTAL * 40);
    const rounds = isLong ? 200 : 20;
    for (let round = 0; round < rounds; round += 1) {
      const again = await Promise.all(commands.map((command) => submit(command)));
      expect(again).toEqual(first);
    }
    const { available, held } = (await readAccounts(database.db, [accountId])).get(accountId)!;
    expect({ available, held }).toEqual({ available: TOTAL * 40, held: TOTAL * 40 });
  },
);

/** All commands about one hold at once, some of them twice; what was rejected for coming too early is told again. */
async function raceOne(accountId: string): Promise<Race> {
  const { take, settle, release, void: drop } = commandsOf(accountId);
  const commands = random.shuffled([take, take, settle, release, drop, release]);
  const replies = new Map<string, string>();
  const answers = await Promise.all(
    commands.map(async (command) => [command, await submit(command)] as const),
  );
  for (const [command, word] of answers) {
    const before = replies.get(command.kind);
    expect(before === undefined || before === word || word === 'unknown_hold').toBe(true);
    if (word !== 'unknown_hold') replies.set(command.kind, word);
  }
  return { accountId, holdId: take.holdId, replies };
}

/** The state of each hold, its journals and what callers were told are one story. */
async function judgeEnds(races: readonly Race[]): Promise<Set<string>> {
  const holds = await readHolds(database.db, idsOf(races));
  const states = new Map(holds.map(({ holdId, state }) => [holdId, state]));
  const ids = races.flatMap(({ holdId }) => [holdId, ...endsOf(holdId)]);
  const journals = await readJournals(database.db, ids);
  const words = new Map(journals.map(({ commandId, word }) => [commandId, word]));
  for (const { holdId, replies } of races) {
    const [settle, release] = endsOf(holdId);
    const booked = [settle, release].filter((id) => words.get(id) === 'booked');
    const taken = words.get(holdId) === 'booked';
    expect(booked).toHaveLength(taken ? 1 : 0);
    const state = states.get(holdId);
    if (taken) expect(state).toBe(booked[0] === settle ? 'settled' : 'released');
    else expect(['voided', 'released']).toContain(state);
    for (const [kind, word] of replies) {
      const id = kind === 'take' ? holdId : endIdOf(holdId, kind as 'settle' | 'release' | 'void');
      expect(words.get(id)).toBe(word);
    }
  }
  return new Set(states.values());
}

/** Amount and fee came back once from each hold that did not settle; a settled one gave nothing back. */
async function judgeMoney(
  accounts: readonly string[],
  races: readonly Race[],
  funds: number,
): Promise<void> {
  const rows = await readAccounts(database.db, accounts);
  const holds = await readHolds(database.db, idsOf(races));
  for (const accountId of accounts) {
    const settled = holds.filter(
      (hold) => hold.accountId === accountId && hold.state === 'settled',
    ).length;
    const row = rows.get(accountId)!;
    expect(row).toMatchObject({
      available: funds - settled * TOTAL,
      held: 0,
      fees: settled * FEE,
      acquirer_clearing: settled * AMOUNT - funds,
    });
  }
  expect(holds).toHaveLength(races.length);
}

async function submit(command: OracleCommand): Promise<string> {
  const reply = await random.pick(processes).submit(command);
  return reply!.word;
}

async function credit(accountId: string, amount: number): Promise<void> {
  const told = { id: random.id(), subject: random.id(), accountId };
  expect(await submit({ ...told, kind: 'credit', amount, releaseAtMs: null })).toBe('booked');
}

function commandsOf(accountId: string) {
  const hold = { accountId, holdId: random.id(), resourceId: random.id() };
  const end = <Kind extends 'settle' | 'release' | 'void'>(kind: Kind) => ({
    ...hold,
    kind,
    id: endIdOf(hold.holdId, kind),
  });
  return {
    take: {
      ...hold,
      id: hold.holdId,
      kind: 'take',
      pix: null,
      amount: AMOUNT,
      fee: FEE,
    } as const,
    settle: end('settle'),
    release: end('release'),
    void: end('void'),
  };
}

function idsOf(races: readonly Race[]): string[] {
  return races.map(({ holdId }) => holdId);
}

function endsOf(holdId: string): [string, string, string] {
  return [endIdOf(holdId, 'settle'), endIdOf(holdId, 'release'), endIdOf(holdId, 'void')];
}
