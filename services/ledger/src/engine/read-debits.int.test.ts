import type { AccountId } from '@pixmesh/kernel/ids';
import { newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { LedgerCommand } from '#commands/ledger-command.ts';
import { countRows } from '#test/read-ledger.ts';
import {
  disputeBlock,
  receivedPixCredit,
  payoutReturnCredit,
  holdRelease,
  suspenseResolve,
  holdSettle,
  receivedPixSuspend,
  holdTake,
  acquirerTariffBook,
  holdVoid,
} from '#test/ledger-commands.ts';
import { aLedgerUnderTest, type LedgerUnderTest } from '#test/ledger-under-test.ts';

import { executeBatch } from './execute-batch.ts';
import { debitsStatement } from './read-debits.sql.ts';

let ledger: LedgerUnderTest;

beforeAll(async () => {
  ledger = await aLedgerUnderTest();
});
afterAll(() => ledger[Symbol.asyncDispose]());

/** Names of the statements of a batch. */
async function statementsOf(commands: readonly LedgerCommand[]): Promise<string[]> {
  const names: string[] = [];
  const db: Database = {
    ...ledger.db,
    transaction: (work) =>
      ledger.db.transaction((tx) =>
        work({
          ...tx,
          query: (statement) => {
            names.push(statement.name ?? 'unnamed');
            return tx.query(statement);
          },
        }),
      ),
  };
  await executeBatch({ db, wakeOutbox: () => undefined, lockedOwners: new Set() }, commands);
  return names;
}

test('what is not about a Pix that goes back asks nothing of these tables: two statements', async () => {
  const accountId = newId<AccountId>();
  await ledger.submit(receivedPixCredit({ accountId, amount: 5_000 }));
  const paid = holdTake({ accountId, amount: 10, fee: 1 });
  const failed = holdTake({ accountId, amount: 10, fee: 1 });
  expect(await statementsOf([paid, failed])).toEqual(['ledger_lock_batch', 'ledger_write_holds']);
  expect(await statementsOf([holdVoid(holdTake({ accountId }))])).toEqual([
    'ledger_lock_batch',
    'ledger_write_holds',
  ]);
  const others = [
    holdSettle(paid),
    holdRelease(failed),
    receivedPixCredit({ accountId }),
    receivedPixSuspend({ accountId }),
    payoutReturnCredit({ accountId }),
    acquirerTariffBook({ accountId }),
  ];
  expect(await statementsOf(others)).toEqual(['ledger_lock_batch', 'ledger_write_batch']);
  const rows = [countRows(ledger.db, 'pix_debits'), countRows(ledger.db, 'refund_holds')];
  expect(await Promise.all(rows)).toEqual([0, 0]);
});

test('a refund, a dispute and an item of suspense are read under the locks, right after them', async () => {
  const accountId = newId<AccountId>();
  const pix = receivedPixCredit({ accountId, amount: 5_000 });
  const item = receivedPixSuspend({ accountId });
  await ledger.execute([pix, item]);
  const of = { accountId, endToEndId: pix.endToEndId };
  const taken = holdTake({ ...of, amount: 10 });
  const read = ['ledger_lock_batch', 'ledger_read_debits', 'ledger_write_debits'];
  expect(await statementsOf([taken])).toEqual(read);
  expect(await statementsOf([holdSettle(taken)])).toEqual(read);
  expect(await statementsOf([disputeBlock({ ...of, amount: 10 })])).toEqual(read);
  expect(await statementsOf([suspenseResolve(item)])).toEqual([
    'ledger_lock_batch',
    'ledger_read_items',
    'ledger_write_debits',
  ]);
});

test('a Pix is read by keys, however many there are, also while the tables are not analysed', async () => {
  const accountId = newId<AccountId>();
  const pix = receivedPixCredit({ accountId, amount: 5_000 });
  const { endToEndId } = pix;
  await ledger.submit(pix);
  const hold = holdTake({ accountId, endToEndId, amount: 10 });
  await ledger.submit(hold);
  await ledger.db.query(sql`
    insert into pix_debits (
      account_id, end_to_end_id, received, refunding, refunded, returned, blocked, shortfall, disputed
    )
    select ${accountId}::uuid, 'E' || n, 100, 0, 0, 0, 0, 0, 0 from generate_series(1, 5000) as n`);
  await ledger.db.query(sql`
    insert into refund_holds (hold_id, account_id, end_to_end_id, from_block)
    select gen_random_uuid(), ${accountId}::uuid, 'E' || n, 0 from generate_series(1, 5000) as n`);
  await ledger.db.transaction(async (tx) => {
    await tx.query(sql`select set_config('enable_seqscan', 'off', true)`);
    const statement = debitsStatement([{ accountId, endToEndId }], [hold.holdId]);
    const { scans, rowsRead } = await explainStatement(tx, statement);
    expect(scans).toEqual([
      'entries_pkey',
      'journals_pkey',
      'pix_debits_pkey',
      'refund_holds_pkey',
    ]);
    expect(rowsRead).toBeLessThan(10);
  });
});
