import { receivedPixCommandId } from '@pixmesh/contracts/internal/ledger-command-ids';
import type { AccountId, HoldId } from '@pixmesh/kernel/ids';
import type { Transaction } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { isHoldCommand, type LedgerCommand } from '#commands/ledger-command.ts';
import type { Hold } from '#commands/outcome.ts';
import { pixKey } from '#decisions/batch-state.ts';
import { type PixDebits, untouchedPix } from '#decisions/pix-debits.ts';

import { plainArray } from './plain-array.ts';

type Debits = {
  /** Holds that were read, those of refunds with their Pix. */
  holds: ReadonlyMap<string, Hold>;
  pix: ReadonlyMap<string, PixDebits>;
};

/**
 * The Pix that refunds, disputes and returns of a batch are about, once the rows of their owners are locked: a
 * statement of its own sees what those have written who held the locks before. A batch without such commands, as are
 * all batches of payouts, asks for nothing.
 */
export async function readPixAndRefunds(
  tx: Transaction,
  commands: readonly LedgerCommand[],
  holds: ReadonlyMap<string, Hold>,
): Promise<Debits> {
  const pix = new Map(
    commands.flatMap((command) => pixOf(command)).map((one) => [pixKey(one), one]),
  );
  const refunds = openRefunds(commands, holds);
  if (pix.size === 0 && refunds.length === 0) return { holds, pix: new Map() };
  const rows = await queryDebits(tx, [...pix.values()], refunds);
  return toDebits(rows, holds);
}

type NamedPix = { accountId: AccountId; endToEndId: string };

function pixOf(command: LedgerCommand): NamedPix[] {
  const { accountId } = command;
  if (command.kind === 'hold.take') {
    const { endToEndId } = command;
    return endToEndId === null ? [] : [{ accountId, endToEndId }];
  }
  const isOfPix = 'disputeId' in command || command.kind === 'received_pix.return';
  return isOfPix ? [{ accountId, endToEndId: command.endToEndId }] : [];
}

/** Holds of refunds that the batch may end. */
function openRefunds(
  commands: readonly LedgerCommand[],
  holds: ReadonlyMap<string, Hold>,
): HoldId[] {
  return commands.filter(isHoldCommand).flatMap(({ holdId }) => {
    const hold = holds.get(holdId);
    return hold?.kind === 'refund' && hold.state === 'open' ? [holdId] : [];
  });
}

type RefundHoldRow = { source: 'hold'; hold_id: string; end_to_end_id: string; from_block: bigint };
type PixRow = {
  source: 'pix';
  account_id: AccountId;
  end_to_end_id: string;
  received: bigint;
  refunding: bigint;
  refunded: bigint;
  returned: bigint;
  blocked: bigint;
  shortfall: bigint;
  dispute_id: string | null;
  disputed: bigint;
};
type CreditRow = Pick<PixRow, 'account_id' | 'end_to_end_id' | 'received'> & { source: 'credit' };
type DebitRow = RefundHoldRow | PixRow | CreditRow;

async function queryDebits(
  tx: Transaction,
  pix: readonly NamedPix[],
  refunds: readonly HoldId[],
): Promise<DebitRow[]> {
  return await tx.query<DebitRow>(debitsStatement(pix, refunds));
}

/**
 * Reads by keys only: of holds, Pix, journals (a credit's id is derived from its Pix) and entries. `offset 0` keeps the
 * planner from walking through all journals of an owner instead, which it would do while the tables are new.
 */
export function debitsStatement(pix: readonly NamedPix[], refunds: readonly HoldId[]): Statement {
  return named(
    'ledger_read_debits',
    sql`
        with named as (
          select * from unnest(
            ${plainArray(pix.map(({ accountId }) => accountId))}::uuid[],
            ${pix.map(({ endToEndId }) => endToEndId)}::text[],
            ${plainArray(pix.map(({ endToEndId }) => receivedPixCommandId(endToEndId)))}::uuid[]
          ) as named (account_id, end_to_end_id, credit_id)
        ),
        hold as (
          select hold_id, account_id, end_to_end_id, from_block
          from refund_holds
          where hold_id = any (${plainArray(refunds)}::uuid[])
        )
        select
          'hold' as source, hold_id, account_id, end_to_end_id, from_block,
          null::bigint as received, null::bigint as refunding, null::bigint as refunded,
          null::bigint as returned, null::bigint as blocked, null::bigint as shortfall,
          null::uuid as dispute_id, null::bigint as disputed
        from hold
        union all
        select
          'credit', null, named.account_id, end_to_end_id, null,
          -moved.amount, null, null, null, null, null, null, null
        from named
        cross join lateral (
          select account_id, version, kind from journals where command_id = credit_id offset 0
        ) as credit
        cross join lateral (
          select amount
          from entries
          where entries.account_id = credit.account_id
            and entries.kind = 'acquirer_clearing'
            and entries.version = credit.version
          offset 0
        ) as moved
        where credit.account_id = named.account_id and credit.kind = 'credit_received_pix'
        union all
        select
          'pix', null, account_id, end_to_end_id, null,
          received, refunding, refunded, returned, blocked, shortfall, dispute_id, disputed
        from (
          select account_id, end_to_end_id from named
          union
          select account_id, end_to_end_id from hold
        ) as touched
        cross join lateral (
          select received, refunding, refunded, returned, blocked, shortfall, dispute_id, disputed
          from pix_debits
          where pix_debits.account_id = touched.account_id
            and pix_debits.end_to_end_id = touched.end_to_end_id
          offset 0
        ) as debits`,
  );
}

/** The row of a Pix replaces what its credit alone says. */
function toDebits(rows: readonly DebitRow[], before: ReadonlyMap<string, Hold>): Debits {
  const holds = new Map(before);
  const pix = new Map<string, PixDebits>();
  for (const row of rows) {
    const hold = row.source === 'hold' ? holds.get(row.hold_id) : undefined;
    if (row.source === 'pix') {
      const one = toPix(row);
      pix.set(pixKey(one), one);
    } else if (row.source === 'credit') {
      const one = untouchedPix(row.account_id, row.end_to_end_id, row.received);
      const key = pixKey(one);
      if (!pix.has(key)) pix.set(key, one);
    } else if (hold) {
      const refund = { endToEndId: row.end_to_end_id, fromBlock: row.from_block };
      holds.set(row.hold_id, { ...hold, refund });
    }
  }
  return { holds, pix };
}

function toPix(row: PixRow): PixDebits {
  const { received, refunding, refunded, returned, blocked, shortfall, disputed } = row;
  return {
    accountId: row.account_id,
    endToEndId: row.end_to_end_id,
    disputeId: row.dispute_id,
    received,
    refunding,
    refunded,
    returned,
    blocked,
    shortfall,
    disputed,
  };
}
