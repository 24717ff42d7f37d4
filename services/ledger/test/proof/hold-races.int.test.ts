import { isLong, scaled } from '@pixmesh/testkit/long-runs';
import { testSeed } from '@pixmesh/testkit/test-seed';
import { expect, test } from 'vitest';

import { workConcurrently } from '#test/work-concurrently.ts';

import { auditBooks } from '#test/audit-books.sql.ts';
import { useRacingProcesses } from './racing-processes.ts';
import { endIdOf } from './model-hold-commands.ts';
import { readAccounts, readHolds, readJournals } from './read-books.sql.ts';

/** Take, settle, release and void of one hold, all at once through several processes (target L9). */
const HOLDS = scaled(300, 10_000);
const ACCOUNTS = 8;
const AMOUNT = 700;
const FEE = 35;
const TOTAL = AMOUNT + FEE;
const TIMEOUT_MS = scaled(60_000, 900_000);

const SEED = testSeed();

const ledger = useRacingProcesses(SEED);
const { random, submit } = ledger;

type Race = { accountId: string; holdId: string; replies: Map<string, string> };

test(
  `each hold has one end, and its money is in one place (${HOLDS} holds, PIXMESH_TEST_SEED=${SEED})`,
  { timeout: TIMEOUT_MS },
  async () => {
    const accounts = Array.from({ length: ACCOUNTS }, () => random.id());
    const funds = HOLDS * TOTAL;
    for (const accountId of accounts) await credit(accountId, funds);
    const races: Race[] = [];
    const indexes = Array.from({ length: HOLDS }, (_, index) => index);
    await workConcurrently(indexes, async (index) => {
      races.push(await raceOne(accounts[index % ACCOUNTS]!));
    });
    const ends = await verifyEnds(races);
    await verifyMoney(accounts, races, funds);
    expect(await auditBooks(ledger.db)).toEqual([]);
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
    const { available, held } = (await readAccounts(ledger.db, [accountId])).get(accountId)!;
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
async function verifyEnds(races: readonly Race[]): Promise<Set<string>> {
  const holds = await readHolds(ledger.db, idsOf(races));
  const states = new Map(holds.map(({ holdId, state }) => [holdId, state]));
  const ids = races.flatMap(({ holdId }) => [holdId, ...endsOf(holdId)]);
  const journals = await readJournals(ledger.db, ids);
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
      const id =
        kind === 'hold.take'
          ? holdId
          : endIdOf(holdId, kind as 'hold.settle' | 'hold.release' | 'hold.void');
      expect(words.get(id)).toBe(word);
    }
  }
  return new Set(states.values());
}

/** Amount and fee came back once from each hold that did not settle; a settled one gave nothing back. */
async function verifyMoney(
  accounts: readonly string[],
  races: readonly Race[],
  funds: number,
): Promise<void> {
  const rows = await readAccounts(ledger.db, accounts);
  const holds = await readHolds(ledger.db, idsOf(races));
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

async function credit(accountId: string, amount: number): Promise<void> {
  const details = { id: random.id(), subject: random.id(), accountId };
  expect(await submit({ ...details, kind: 'received_pix.credit', amount, releaseAtMs: null })).toBe(
    'booked',
  );
}

function commandsOf(accountId: string) {
  const hold = { accountId, holdId: random.id(), resourceId: random.id() };
  const end = <Kind extends 'hold.settle' | 'hold.release' | 'hold.void'>(kind: Kind) => ({
    ...hold,
    kind,
    id: endIdOf(hold.holdId, kind),
  });
  return {
    take: {
      ...hold,
      id: hold.holdId,
      kind: 'hold.take',
      pix: null,
      amount: AMOUNT,
      fee: FEE,
    } as const,
    settle: end('hold.settle'),
    release: end('hold.release'),
    void: end('hold.void'),
  };
}

function idsOf(races: readonly Race[]): string[] {
  return races.map(({ holdId }) => holdId);
}

function endsOf(holdId: string): [string, string, string] {
  return [
    endIdOf(holdId, 'hold.settle'),
    endIdOf(holdId, 'hold.release'),
    endIdOf(holdId, 'hold.void'),
  ];
}
