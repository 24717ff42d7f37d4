import type { AccountId, ChargeId, DisputeId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { DisputeRow } from './dispute-row.ts';
import { returnFacts, type ReturnFactsRecord, toReturnedAmount } from './return-facts.sql.ts';

/** Columns of every statement that answers disputes; map them with `toDisputeRow`. */
export const DISPUTE_COLUMNS = sql`
  disputes.id, disputes.infraction_id, disputes.charge_id, account_id, disputes.end_to_end_id, disputes.amount, status,
  reason, arrived_resolved, disputes.opened_at, defense_deadline_at, resolved_at, disputes.acquirer_status,
  disputes.acquirer_decided_at, block, defense_text, defense_sent_at, intended_defense, intended_at,
  disputes.created_at, version,
  ${returnFacts(sql`disputes.end_to_end_id`)},
  date_trunc('milliseconds', now()) as read_at`;

/** Primary key read. */
export async function findDispute(db: Queryable, id: DisputeId): Promise<DisputeRow | null> {
  return await findOne(
    db,
    named('find_dispute', sql`select ${DISPUTE_COLUMNS} from disputes where id = ${id}`),
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
      'find_dispute_of_infraction',
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
      'find_disputes_of_infractions',
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
      'find_open_dispute',
      sql`
        select ${DISPUTE_COLUMNS} from disputes
        where end_to_end_id = ${endToEndId} and status in ('open', 'under_review')`,
    ),
  );
}

/** Those of some Pix with a dispute, and whether all of its disputes are won. Reads `disputes_end_to_end_id`. */
export async function findDisputedPix(
  db: Queryable,
  endToEndIds: readonly string[],
): Promise<{ endToEndId: string; isWon: boolean }[]> {
  if (endToEndIds.length === 0) return [];
  const rows = await db.query<{ end_to_end_id: string; is_won: boolean }>(
    named(
      'find_disputed_pix',
      sql`
        select end_to_end_id, bool_and(status = 'won') as is_won from disputes
        where end_to_end_id = any(${endToEndIds}::text[])
        group by end_to_end_id`,
    ),
  );
  return rows.map((row) => ({ endToEndId: row.end_to_end_id, isWon: row.is_won }));
}

/** Those of some infractions with a defense that may have reached the acquirer and is not confirmed. */
export async function findIntendedDefenses(
  db: Queryable,
  infractionIds: readonly string[],
): Promise<DisputeRow[]> {
  const rows = await db.query<DisputeRecord>(
    named(
      'find_intended_defenses',
      sql`
        select ${DISPUTE_COLUMNS} from disputes
        where infraction_id = any(${infractionIds}::text[]) and intended_defense is not null`,
    ),
  );
  return rows.map(toDisputeRow);
}

/**
 * Lost disputes whose block still stands, in no order: some that the acquirer never answers for keep no others from
 * their turn.
 */
export async function findStandingBlocks(db: Queryable, limit: number): Promise<DisputeRow[]> {
  const rows = await db.query<DisputeRecord>(
    named(
      'find_standing_blocks',
      sql`
        select ${DISPUTE_COLUMNS} from disputes
        where status = 'lost' and block = 'standing'
        order by random()
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
      'find_charge_of_pix',
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
      'insert_dispute',
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
      'update_dispute',
      sql`
        update disputes
        set status = ${dispute.status},
            resolved_at = ${dispute.resolvedAt},
            acquirer_status = ${dispute.acquirerStatus},
            acquirer_decided_at = ${dispute.acquirerDecidedAt},
            block = ${dispute.block},
            defense_text = ${dispute.defenseText},
            defense_sent_at = ${dispute.defenseSentAt},
            intended_defense = ${dispute.intendedDefense?.text ?? null},
            intended_at = ${dispute.intendedDefense?.at ?? null},
            version = version + 1
        where id = ${dispute.id} and version = ${dispute.version}
        returning id`,
    ),
  );
  return rows.length === 1;
}

async function findOne(db: Queryable, statement: Statement): Promise<DisputeRow | null> {
  const rows = await db.query<DisputeRecord>(statement);
  return rows[0] ? toDisputeRow(rows[0]) : null;
}

export type DisputeRecord = ReturnFactsRecord & {
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
  intended_defense: string | null;
  intended_at: Date | null;
  created_at: Date;
  version: number;
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
    intendedDefense: toIntendedDefense(row),
    createdAt: row.created_at,
    version: row.version,
    returnedAmount: toReturnedAmount(row, row.infraction_id),
    readAt: row.read_at,
  };
}

function toIntendedDefense({ intended_defense: text, intended_at: at }: DisputeRecord) {
  return text === null || at === null ? null : { text, at };
}
