import type { AccountId, ChargeId, DisputeId, OperatorId } from '@pixmesh/kernel/ids';
import { type Cents, toCents } from '@pixmesh/kernel/money';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { DisputeMessage } from './dispute-resource.ts';
import type { DisputeRow } from './dispute-row.ts';

/**
 * Columns of every statement that answers disputes; map them with `toDisputeRow`. Returns under the MED of a Pix belong
 * to the dispute in whose time they were seen: a second dispute of the Pix begins when it is stored.
 */
export const DISPUTE_COLUMNS = sql`
  disputes.id, infraction_id, disputes.charge_id, account_id, disputes.end_to_end_id, disputes.amount, status, reason,
  arrived_resolved, opened_at, defense_deadline_at, resolved_at, acquirer_status, acquirer_decided_at, block,
  defense_text, defense_sent_at, disputes.created_at, version,
  (
    select coalesce(sum(pix_returns.amount), 0)::bigint
    from pix_returns
    where pix_returns.end_to_end_id = disputes.end_to_end_id
      and pix_returns.disposition = 'med'
      and disputes.created_at = (
        select coalesce(
          max(other.created_at) filter (where other.created_at <= pix_returns.seen_at),
          min(other.created_at)
        )
        from disputes as other
        where other.end_to_end_id = disputes.end_to_end_id
      )
  ) as returned_amount,
  date_trunc('milliseconds', now()) as read_at`;

/** Primary key read. */
export async function findDispute(db: Queryable, id: DisputeId): Promise<DisputeRow | null> {
  return await findOne(
    db,
    named('dispute_find', sql`select ${DISPUTE_COLUMNS} from disputes where id = ${id}`),
  );
}

/** The dispute of an infraction, by the acquirer's id. */
export async function findByInfraction(
  db: Queryable,
  infractionId: string,
): Promise<DisputeRow | null> {
  return await findOne(
    db,
    named(
      'dispute_of_infraction',
      sql`select ${DISPUTE_COLUMNS} from disputes where infraction_id = ${infractionId}`,
    ),
  );
}

/** The disputes of a page of infractions, by the acquirer's id. */
export async function findByInfractions(
  db: Queryable,
  infractionIds: readonly string[],
): Promise<Map<string, DisputeRow>> {
  const rows = await db.query<DisputeRecord>(
    named(
      'disputes_of_infractions',
      sql`
        select ${DISPUTE_COLUMNS} from disputes
        where infraction_id = any(${infractionIds}::text[])`,
    ),
  );
  return new Map(rows.map(toDisputeRow).map((dispute) => [dispute.infractionId, dispute]));
}

/** The open dispute of a Pix; there is one at most. */
export async function findOpenDispute(
  db: Queryable,
  endToEndId: string,
): Promise<DisputeRow | null> {
  return await findOne(
    db,
    named(
      'dispute_open_of_pix',
      sql`
        select ${DISPUTE_COLUMNS} from disputes
        where end_to_end_id = ${endToEndId} and status in ('open', 'under_review')`,
    ),
  );
}

/** What the MED has returned of a Pix that no dispute is known of yet: the first one to come accounts for it. */
export async function sumUnclaimedReturns(db: Queryable, endToEndId: string): Promise<Cents> {
  const rows = await db.query<{ cents: bigint }>(
    named(
      'dispute_unclaimed_returns',
      sql`
        select coalesce(sum(amount), 0)::bigint as cents from pix_returns
        where end_to_end_id = ${endToEndId}
          and disposition = 'med'
          and not exists (select from disputes where end_to_end_id = ${endToEndId})`,
    ),
  );
  return toCents(rows[0]?.cents ?? 0n);
}

/** Lost disputes whose block still stands: those of which money has returned, then the oldest. */
export async function findStandingBlocks(db: Queryable, limit: number): Promise<DisputeRow[]> {
  const rows = await db.query<DisputeRecord>(
    named(
      'dispute_standing_blocks',
      sql`
        select ${DISPUTE_COLUMNS} from disputes
        where status = 'lost' and block = 'standing'
        order by
          exists (
            select from pix_returns
            where pix_returns.end_to_end_id = disputes.end_to_end_id and disposition = 'med'
          ) desc,
          resolved_at
        limit ${limit}`,
    ),
  );
  return rows.map(toDisputeRow);
}

/** The charge that a Pix paid, or what else we know of the Pix. */
export async function findChargeOfPix(
  db: Queryable,
  endToEndId: string,
): Promise<{ kind: 'charge'; chargeId: ChargeId } | { kind: 'suspended' } | { kind: 'unknown' }> {
  const rows = await db.query<{ charge_id: ChargeId | null; disposition: string }>(
    named(
      'dispute_charge_of_pix',
      sql`select charge_id, disposition from received_pix where end_to_end_id = ${endToEndId}`,
    ),
  );
  const [pix] = rows;
  if (pix === undefined) return { kind: 'unknown' };
  if (pix.disposition !== 'credit' || pix.charge_id === null) return { kind: 'suspended' };
  return { kind: 'charge', chargeId: pix.charge_id };
}

/** Stores a new dispute; false when its infraction is stored already or another dispute of the Pix is open. */
export async function insertDispute(db: Queryable, dispute: DisputeRow): Promise<boolean> {
  const rows = await db.query(
    named(
      'dispute_insert',
      sql`
        insert into disputes (
          id, infraction_id, charge_id, account_id, end_to_end_id, amount, status, reason, arrived_resolved,
          opened_at, defense_deadline_at, resolved_at, acquirer_status, acquirer_decided_at, block
        )
        values (
          ${dispute.id}, ${dispute.infractionId}, ${dispute.chargeId}, ${dispute.accountId}, ${dispute.endToEndId},
          ${dispute.amount}, ${dispute.status}, ${dispute.reason}, ${dispute.arrivedResolved}, ${dispute.openedAt},
          ${dispute.defenseDeadlineAt}, ${dispute.resolvedAt}, ${dispute.acquirerStatus},
          ${dispute.acquirerDecidedAt}, ${dispute.block}
        )
        on conflict do nothing
        returning id`,
    ),
  );
  return rows.length === 1;
}

/** Writes a dispute as it stands after a change; false when it has moved since it was read. */
export async function updateDispute(db: Queryable, dispute: DisputeRow): Promise<boolean> {
  const rows = await db.query(
    named(
      'dispute_update',
      sql`
        update disputes
        set status = ${dispute.status},
            resolved_at = ${dispute.resolvedAt},
            acquirer_status = ${dispute.acquirerStatus},
            acquirer_decided_at = ${dispute.acquirerDecidedAt},
            block = ${dispute.block},
            defense_text = ${dispute.defenseText},
            defense_sent_at = ${dispute.defenseSentAt},
            version = version + 1
        where id = ${dispute.id} and version = ${dispute.version}
        returning id`,
    ),
  );
  return rows.length === 1;
}

/** The platform's words in the chat of a dispute, oldest first. */
export async function listMessages(db: Queryable, id: DisputeId): Promise<DisputeMessage[]> {
  const rows = await db.query<{ message: string; created_at: Date }>(
    named(
      'dispute_messages',
      sql`select message, created_at from dispute_messages where dispute_id = ${id} order by created_at, id`,
    ),
  );
  return rows.map((row) => ({ message: row.message, createdAt: row.created_at }));
}

export async function insertMessage(
  db: Queryable,
  said: { id: string; disputeId: DisputeId; message: string; operatorId: OperatorId },
): Promise<void> {
  await db.query(
    named(
      'dispute_message_insert',
      sql`
        insert into dispute_messages (id, dispute_id, message, requested_by)
        values (${said.id}, ${said.disputeId}, ${said.message}, ${said.operatorId})`,
    ),
  );
}

async function findOne(
  db: Queryable,
  statement: Parameters<Queryable['query']>[0],
): Promise<DisputeRow | null> {
  const rows = await db.query<DisputeRecord>(statement);
  return rows[0] ? toDisputeRow(rows[0]) : null;
}

export type DisputeRecord = {
  id: DisputeId;
  infraction_id: string;
  charge_id: ChargeId;
  account_id: AccountId;
  end_to_end_id: string;
  amount: bigint;
  status: DisputeRow['status'];
  reason: string;
  arrived_resolved: boolean;
  opened_at: Date;
  defense_deadline_at: Date;
  resolved_at: Date | null;
  acquirer_status: DisputeRow['acquirerStatus'];
  acquirer_decided_at: Date | null;
  block: DisputeRow['block'];
  defense_text: string | null;
  defense_sent_at: Date | null;
  created_at: Date;
  version: number;
  returned_amount: bigint;
  read_at: Date;
};

export function toDisputeRow(row: DisputeRecord): DisputeRow {
  return {
    id: row.id,
    infractionId: row.infraction_id,
    chargeId: row.charge_id,
    accountId: row.account_id,
    endToEndId: row.end_to_end_id,
    amount: toCents(row.amount),
    status: row.status,
    reason: row.reason,
    arrivedResolved: row.arrived_resolved,
    openedAt: row.opened_at,
    defenseDeadlineAt: row.defense_deadline_at,
    resolvedAt: row.resolved_at,
    acquirerStatus: row.acquirer_status,
    acquirerDecidedAt: row.acquirer_decided_at,
    block: row.block,
    defenseText: row.defense_text,
    defenseSentAt: row.defense_sent_at,
    createdAt: row.created_at,
    version: row.version,
    returnedAmount: toCents(row.returned_amount),
    readAt: row.read_at,
  };
}
