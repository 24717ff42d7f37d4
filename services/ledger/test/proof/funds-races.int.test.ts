import { scaled } from '@pixmesh/testkit/long-runs';
import { sql } from '@pixmesh/postgres/sql';
import { testSeed } from '@pixmesh/testkit/test-seed';
import { expect, test } from 'vitest';

import type { OracleCommand } from '#test/oracle-books.ts';

import { auditBooks } from '#test/audit-books.sql.ts';
import { useRacingProcesses, watchSnapshots } from './racing-processes.ts';
import { readAccounts } from './read-books.sql.ts';

/** Many holds on funds for exactly k of them, amount and fee both counted (target L3). */
const RACES = scaled(15, 1_000);
const HOLDS = 64;
const TIMEOUT_MS = scaled(60_000, 900_000);
const SEED = testSeed();

const ledger = useRacingProcesses(SEED);
const { random, submit } = ledger;

test(
  `of ${HOLDS} holds on funds for k, exactly k are taken (${RACES} races, PIXMESH_TEST_SEED=${SEED})`,
  { timeout: TIMEOUT_MS },
  async () => {
    for (let race = 1; race <= RACES; race += 1) await raceForFunds(race);
    expect(await auditBooks(ledger.db)).toEqual([]);
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
  const watch = watchBalance(accountId, funds);
  const words = await Promise.all(
    Array.from({ length: HOLDS }, () => submit(aHoldTake(accountId, amount, fee))),
  );
  const wrong = await watch.stop();
  const taken = words.filter((word) => word === 'booked').length;
  const refused = words.filter((word) => word === 'insufficient_balance').length;
  const row = (await readAccounts(ledger.db, [accountId])).get(accountId);
  const race = { number, k, amount, fee };
  const [available, held] = [row?.['available'] ?? 0, row?.['held'] ?? 0];
  expect({ ...race, taken, refused, wrong, available, held }).toEqual({
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
function watchBalance(accountId: string, funds: number) {
  return watchSnapshots(async () => {
    const [row] = await ledger.db.query<Snapshot>(sql`
      select
        available, pending, held,
        (select coalesce(sum(amount), 0)::bigint from entries
         where entries.account_id = accounts.account_id and kind = 'available') as entries
      from accounts where account_id = ${accountId}`);
    if (!row) return [];
    const { available, pending, held, entries } = row;
    return [
      ...(available < 0n ? [`available is ${available}`] : []),
      ...(available + pending + held === BigInt(funds) ? [] : ['money is missing in a snapshot']),
      ...(entries === available ? [] : [`entries are ${entries}, available ${available}`]),
    ];
  });
}

function aReceivedPixCredit(accountId: string, amount: number): OracleCommand {
  const details = { id: random.id(), subject: random.id(), accountId };
  return { ...details, kind: 'received_pix.credit', amount, releaseAtMs: null };
}

function aHoldTake(accountId: string, amount: number, fee: number): OracleCommand {
  const [holdId, resourceId] = [random.id(), random.id()];
  const hold = { accountId, holdId, resourceId, amount, fee };
  return { ...hold, id: holdId, kind: 'hold.take', pix: null };
}
