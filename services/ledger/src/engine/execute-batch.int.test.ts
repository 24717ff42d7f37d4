import assert from 'node:assert';

import type { AccountId, HoldId } from '@pixmesh/kernel/ids';
import { newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { sql } from '@pixmesh/postgres/sql';
import { countLockWaits } from '@pixmesh/testkit/lock-waits';
import { eventually } from '@pixmesh/testkit/eventually';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import type { LedgerCommand } from '#commands/ledger-command.ts';
import { auditBooks } from '#test/audit-books.sql.ts';
import { countAllRows, readBalances } from '#test/read-ledger.ts';
import { workConcurrently } from '#test/work-concurrently.ts';
import {
  disputeBlock,
  receivedPixCredit,
  suspenseCredit,
  disputeReturn,
  payoutReturnCredit,
  payoutSuspend,
  receivedPixReturn,
  holdRelease,
  suspenseResolve,
  holdSettle,
  receivedPixSuspend,
  holdTake,
  acquirerTariffBook,
  disputeUnblock,
} from '#test/ledger-commands.ts';
import { aLedgerUnderTest, journalsOf, type LedgerUnderTest } from '#test/ledger-under-test.ts';

import { executeBatch } from './execute-batch.ts';
import { lockBatch } from './lock-batch.sql.ts';

const wakeOutbox = (): void => undefined;

let ledger: LedgerUnderTest;

beforeAll(async () => {
  ledger = await aLedgerUnderTest();
});
afterEach(async () => {
  assert.deepEqual(await auditBooks(ledger.db), []);
});
afterAll(() => ledger[Symbol.asyncDispose]());

describe('a batch', () => {
  test('of every kind of command is one transaction that leaves the books sound', async () => {
    const accountId = newId<AccountId>();
    const paid = holdTake({ accountId, amount: 500, fee: 10 });
    const disputeId = newId();
    const failed = holdTake({ accountId, amount: 300, fee: 10 });
    const pix = receivedPixCredit({ accountId, amount: 2_000 });
    const { endToEndId } = pix;
    const refund = holdTake({ accountId, endToEndId, amount: 30 });
    const item = receivedPixSuspend({ accountId, amount: 9 });
    const outcomes = await ledger.execute([
      pix,
      receivedPixCredit({ accountId, amount: 70, releaseAt: new Date(Date.now() + 60_000) }),
      item,
      paid,
      failed,
      holdSettle(paid),
      holdRelease(failed),
      payoutReturnCredit({ accountId, amount: 100 }),
      payoutSuspend({ accountId, amount: 40, direction: 'out' }),
      acquirerTariffBook({ accountId, amount: 3 }),
      disputeBlock({ accountId, endToEndId, disputeId, amount: 150 }),
      refund,
      holdSettle(refund),
      disputeReturn({ accountId, endToEndId, disputeId, amount: 20 }),
      receivedPixReturn({ accountId, endToEndId, amount: 10 }),
      disputeUnblock({ accountId, endToEndId, disputeId, amount: 50 }),
      suspenseResolve(item),
      suspenseCredit(receivedPixSuspend({ amount: 5 }), accountId),
    ]);
    expect(outcomes).toHaveLength(18);
    expect(outcomes.every((outcome) => outcome.kind === 'decided')).toBe(true);
    expect(await readBalances(ledger.db, accountId)).toEqual({
      available: 2_000 - 510 + 100 - 150 + 50 + 9 + 5,
      pending: 70,
      blocked: 150 - 30 - 20 - 10 - 50,
      suspense: -40,
      acquirer_clearing: -2_000 - 70 - 9 + 500 - 100 + 40 + 3 + 30 + 20 + 10 - 5,
      fees: 10,
      acquirer_tariffs: -3,
    });
    const journals = await journalsOf(ledger.db, accountId);
    expect(journals.map(({ version }) => version)).toEqual(journals.map((_, at) => BigInt(at + 1)));
  });

  test('of nothing asks nobody', async () => {
    expect(await executeBatch(null as never, [])).toEqual([]);
  });

  test('answers in the order of its commands, whichever way it was written', async () => {
    const owners = Array.from({ length: 50 }, () => newId<AccountId>());
    const commands = owners.map((accountId, at) =>
      receivedPixCredit({ accountId, amount: at + 1 }),
    );
    const outcomes = await ledger.execute(commands);
    expect(outcomes.every((outcome) => outcome.kind === 'decided' && outcome.version === 1n)).toBe(
      true,
    );
    for (const [at, accountId] of owners.entries()) {
      expect(await readBalances(ledger.db, accountId)).toMatchObject({ available: at + 1 });
    }
  });

  test('that fails before its commit leaves nothing, and may be told again', async () => {
    const command = receivedPixCredit({ amount: 640 });
    const before = await countAllRows(ledger.db);
    const dying: typeof ledger.db = {
      ...ledger.db,
      transaction: (work) =>
        ledger.db.transaction(async (tx) => {
          await work(tx);
          throw new Error('the process died before commit');
        }),
    };
    await expect(
      executeBatch({ db: dying, wakeOutbox, lockedOwners: new Set() }, [command]),
    ).rejects.toThrow('died before commit');
    expect(await countAllRows(ledger.db)).toEqual(before);
    expect(await ledger.execute([command])).toMatchObject([{ code: 'booked', repeated: false }]);
  });
});

describe('one command never fails another', () => {
  const harmless = (): LedgerCommand => receivedPixCredit({ amount: 1 });
  /** A text that no column takes: nobody finds out before it is written. */
  const unstorable = ({ accountId }: { accountId: AccountId }): LedgerCommand =>
    receivedPixSuspend({ accountId, endToEndId: 'E\u0000' });
  /** More than its event can say. */
  const unspeakable = (hold: { accountId: AccountId }): LedgerCommand => ({
    ...receivedPixCredit(hold),
    amount: toCents(2n ** 53n),
  });

  test.each([
    ['that the database refuses', unstorable],
    ['whose event cannot be told', unspeakable],
  ])('one poisoned command among 100, %s, is rejected alone', async (_name, poison) => {
    const commands = Array.from({ length: 100 }, () => harmless());
    commands[37] = poison(commands[37]!);
    const outcomes = await ledger.execute(commands);
    const rejected = outcomes.flatMap((outcome, at) => (outcome.kind === 'rejected' ? [at] : []));
    expect(rejected).toEqual([37]);
    expect(outcomes[37]).toMatchObject({ reason: 'unwritable' });
    for (const [at, { accountId }] of commands.entries()) {
      expect(await readBalances(ledger.db, accountId)).toMatchObject(
        at === 37 ? {} : { available: 1 },
      );
    }
    expect(await journalsOf(ledger.db, commands[37].accountId)).toEqual([]);
  });

  test('several poisoned commands are each rejected, and their account goes on', async () => {
    const accountId = newId<AccountId>();
    const bad = [unstorable({ accountId }), unspeakable({ accountId })];
    const good = [1, 2, 3].map((amount) => receivedPixCredit({ accountId, amount }));
    const outcomes = await ledger.execute([good[0]!, bad[0]!, good[1]!, bad[1]!, good[2]!]);
    expect(outcomes.map((outcome) => outcome.kind)).toEqual([
      'decided',
      'rejected',
      'decided',
      'rejected',
      'decided',
    ]);
    expect(await readBalances(ledger.db, accountId)).toMatchObject({ available: 6 });
  });

  test('an ill-formed id is rejected alone too', async () => {
    const ill = { ...receivedPixCredit(), accountId: 'not-a-uuid' as AccountId };
    const good = receivedPixCredit({ amount: 5 });
    const outcomes = await ledger.execute([ill, good]);
    expect(outcomes).toMatchObject([
      { kind: 'rejected', reason: 'unwritable' },
      { code: 'booked' },
    ]);
  });

  test('a refused hold among others is refused alone', async () => {
    const poor = newId<AccountId>();
    const rich = await ledger.fund(1_000);
    const outcomes = await ledger.execute([
      holdTake({ accountId: poor }),
      holdTake({ accountId: rich, amount: 1_000 }),
    ]);
    expect(outcomes).toMatchObject([{ code: 'insufficient_balance' }, { code: 'booked' }]);
  });
});

describe('two owners that name one thing at the same time', () => {
  test('one command id is decided once; the other is told that it is taken', async () => {
    const commandId = newId();
    const commands = Array.from({ length: 8 }, () => ({ ...receivedPixCredit(), commandId }));
    const outcomes = await Promise.all(commands.map((command) => ledger.execute([command])));
    const kinds = outcomes.flat().map((outcome) => outcome.kind);
    expect(kinds.filter((kind) => kind === 'decided')).toHaveLength(1);
    expect(outcomes.flat().filter((outcome) => outcome.kind === 'rejected')).toMatchObject(
      Array.from({ length: 7 }, () => ({ reason: 'other_content' })),
    );
  });

  test('one hold is taken once', async () => {
    const holdId = newId<HoldId>();
    const owners = await Promise.all(Array.from({ length: 4 }, () => ledger.fund(5_000)));
    const holds = owners.map((accountId) => ({ ...holdTake({ accountId }), holdId }));
    const settled = await Promise.all(
      holds.map((hold) => ledger.execute([{ ...hold, commandId: newId() }])),
    );
    const taken = settled.flat().filter((outcome) => outcome.kind === 'decided');
    expect(taken).toHaveLength(1);
  });

  test('one resource is held once', async () => {
    const resourceId = newId();
    const owners = await Promise.all(Array.from({ length: 6 }, () => ledger.fund(5_000)));
    const outcomes = await Promise.all(
      owners.map((accountId) => ledger.execute([holdTake({ accountId, resourceId })])),
    );
    const codes = outcomes.flat().map((outcome) => outcome.kind === 'decided' && outcome.code);
    expect(codes.filter((code) => code === 'booked')).toHaveLength(1);
    expect(codes.filter((code) => code === 'resource_held')).toHaveLength(5);
  });
});

describe('locks', () => {
  test('batches that name the same owners in any order never deadlock', async () => {
    const owners = Array.from({ length: 12 }, () => newId<AccountId>());
    const rounds = Array.from({ length: 60 }, (_, round) =>
      owners
        .toSorted(() => Math.random() - 0.5)
        .slice(0, 8)
        .map((accountId) => receivedPixCredit({ accountId, amount: round + 1 })),
    );
    await workConcurrently(rounds, async (commands) => {
      const outcomes = await ledger.execute(commands);
      expect(outcomes.every((outcome) => outcome.kind === 'decided')).toBe(true);
    });
    const [row] = await ledger.db.query<{ deadlocks: bigint }>(
      sql`select deadlocks from pg_stat_database where datname = current_database()`,
    );
    expect(row?.deadlocks).toBe(0n);
  });

  test('whoever waited reads what the last writer left', async () => {
    const accountId = await ledger.fund(100);
    const command = receivedPixCredit({ accountId, amount: 1 });
    const second = Promise.withResolvers<bigint | undefined>();
    await ledger.db.transaction(async (tx) => {
      await lockBatch(tx, [command]);
      const waiting = ledger.db.transaction((other) => lockBatch(other, [command]));
      waiting.then(
        (state) => second.resolve(state.accounts.get(accountId)?.balances.available),
        (error: unknown) => second.reject(error),
      );
      await eventually(async () => expect(await countLockWaits(ledger.db)).toBe(1));
      await tx.query(sql`
        update accounts set available = 700 where account_id = ${accountId}`);
    });
    expect(await second.promise).toBe(700n);
    await ledger.db.query(sql`update accounts set available = 100 where account_id = ${accountId}`);
  });

  test("nobody waits for another owner's row", async () => {
    const mine = await ledger.fund(100);
    const theirs = await ledger.fund(100);
    await ledger.db.transaction(async (tx) => {
      await lockBatch(tx, [receivedPixCredit({ accountId: mine })]);
      expect(await ledger.execute([holdTake({ accountId: theirs, amount: 5 })])).toMatchObject([
        { code: 'booked' },
      ]);
    });
  });

  test('what a batch needs to know of plans lasts beyond its locks, and their short wait does not', async () => {
    const settings = await ledger.db.transaction(async (tx) => {
      await lockBatch(tx, [receivedPixCredit()]);
      return await tx.query(sql`
        select
          current_setting('enable_seqscan') as scans,
          current_setting('plan_cache_mode') as plans,
          current_setting('lock_timeout') as wait`);
    });
    expect(settings).toEqual([{ scans: 'off', plans: 'force_generic_plan', wait: '5s' }]);
  });

  test('owners opened in a transaction that failed are not there', async () => {
    const accountId = newId<AccountId>();
    const failing = ledger.db.transaction(async (tx) => {
      const state = await lockBatch(tx, [receivedPixCredit({ accountId })]);
      expect(state.accounts.get(accountId)?.version).toBe(0n);
      throw new Error('afterwards');
    });
    await expect(failing).rejects.toThrow('afterwards');
    const rows = await ledger.db.query(sql`select from accounts where account_id = ${accountId}`);
    expect(rows).toEqual([]);
  });
});
