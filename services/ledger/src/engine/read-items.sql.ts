import type { Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { LedgerCommand, SuspenseResolve } from '#commands/ledger-command.ts';
import type { SuspenseItem } from '#decisions/batch-state.ts';

import { plainArray } from './plain-array.ts';

/** Items of suspense that commands of the batch end. Primary key reads, under the locks of their owners. */
export async function readItems(
  tx: Transaction,
  commands: readonly LedgerCommand[],
): Promise<ReadonlyMap<string, SuspenseItem>> {
  const ends = commands.filter((command): command is SuspenseResolve => {
    return command.kind === 'suspense.resolve';
  });
  if (ends.length === 0) return new Map();
  const rows = await tx.query<SuspenseItem & { id: string }>(
    named(
      'ledger_read_items',
      sql`
        select
          id, account_id as "accountId", amount, resolved_at is not null as "isResolved"
        from suspense_items
        where id = any (${plainArray(ends.map(({ itemId }) => itemId))}::uuid[])`,
    ),
  );
  return new Map(rows.map(({ id, ...item }) => [id, item]));
}
