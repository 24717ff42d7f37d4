import { createHash } from 'node:crypto';

import { JOURNAL_KINDS } from '@pixmesh/contracts/internal/journal-kinds';
import { newId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';

import type { ReceivedPixCredit, ReceivedPixSuspend } from '#commands/ledger-command.ts';

/** Books a received Pix as the first version of the ledger did, in its tables and with its digest. */
export async function bookInFirstVersion(
  db: Queryable,
  command: ReceivedPixCredit | ReceivedPixSuspend,
  id: string = newId(),
): Promise<void> {
  const isCredit = command.kind === 'received_pix.credit';
  const kind = isCredit ? (command.releaseAt === null ? 'available' : 'pending') : 'suspense';
  const { accountId, amount, endToEndId, chargeId } = command;
  const meaning = [
    isCredit ? 'credit' : 'suspend',
    accountId,
    endToEndId,
    chargeId,
    String(amount),
    isCredit ? command.releaseAt : command.reason,
  ];
  const fingerprint = createHash('sha256').update(JSON.stringify(meaning), 'utf8').digest();
  await db.query(sql`
    insert into journals (id, command_id, fingerprint, kind, account_id, resource_id, outcome)
    values (${id}, ${command.commandId}, ${fingerprint}, ${JOURNAL_KINDS[command.kind]}, ${accountId}, ${chargeId}, '{}')`);
  await db.query(sql`
    with moved as (
      insert into accounts (account_id, kind, balance, version)
      values
        (${accountId}, 'acquirer_clearing', ${-BigInt(amount)}::bigint, 1),
        (${accountId}, ${kind}::account_kind, ${amount}::bigint, 1)
      on conflict (account_id, kind) do update
      set balance = accounts.balance + excluded.balance, version = accounts.version + 1
      returning kind, balance, version
    )
    insert into entries (journal_id, account_id, kind, amount, balance_after, version)
    select
      ${id}, ${accountId}, kind,
      case kind when 'acquirer_clearing' then ${-BigInt(amount)}::bigint else ${amount}::bigint end,
      balance, version
    from moved`);
  if (!isCredit) {
    await db.query(sql`
      insert into suspense_items (id, account_id, end_to_end_id, charge_id, amount, reason)
      values (${id}, ${accountId}, ${endToEndId}, ${chargeId}, ${amount}, ${command.reason})`);
  } else if (command.releaseAt !== null) {
    await db.query(sql`
      insert into releases (journal_id, account_id, amount, release_at)
      values (${id}, ${accountId}, ${amount}, ${command.releaseAt})`);
  }
}
