import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { DisputeRow } from '#disputes/dispute-row.ts';

/** A dispute of ours as it is compared, with what shows how much of its Pix can be blocked. */
export type ComparedDispute = {
  id: string;
  infractionId: string;
  amount: bigint;
  status: DisputeRow['status'];
  block: DisputeRow['block'];
  /**
   * Nothing of the Pix has gone back, and no refund or other block held any of it when the dispute was stored: all of the
   * dispute's amount must stand blocked under its own command.
   */
  isUntouched: boolean;
  chargeStatus: string;
  changedAt: Date;
};

/** Disputes that the acquirer still lists: opened within its horizon, newest first, at most `limit`. */
export async function listComparedDisputes(
  db: Queryable,
  since: Date,
  limit: number,
): Promise<ComparedDispute[]> {
  return await db.query<ComparedDispute>(
    named(
      'list_compared_disputes',
      sql`
        select
          disputes.id, infraction_id as "infractionId", disputes.amount, disputes.status, block,
          charges.status as "chargeStatus",
          charges.refunded_amount = 0
            and not exists (
              select from pix_returns where pix_returns.end_to_end_id = disputes.end_to_end_id
            )
            and not exists (
              select from refunds
              where refunds.charge_id = disputes.charge_id and refunds.created_at <= disputes.created_at
            )
            and not exists (
              select from disputes as other
              where other.end_to_end_id = disputes.end_to_end_id
                and other.id <> disputes.id
                and other.block <> 'none'
            ) as "isUntouched",
          coalesce(
            (select max(at) from charge_history where charge_history.charge_id = disputes.charge_id),
            disputes.created_at
          ) as "changedAt"
        from disputes
        join charges on charges.id = disputes.charge_id
        where opened_at >= ${since}
        order by opened_at desc
        limit ${limit}`,
    ),
  );
}

export type KeptBlock = Pick<ComparedDispute, 'infractionId' | 'amount'> & { resolvedAt: Date };

/**
 * Blocks of disputes that were lost longer ago than this, whenever they were opened: the longest first, at most `limit`.
 * Reads `disputes_blocked`.
 */
export async function listKeptBlocks(
  db: Queryable,
  { lostForMs, limit }: { lostForMs: number; limit: number },
): Promise<KeptBlock[]> {
  return await db.query<KeptBlock>(
    named(
      'list_kept_blocks',
      sql`
        select infraction_id as "infractionId", amount, resolved_at as "resolvedAt" from disputes
        where status = 'lost' and block = 'standing'
          and resolved_at < now() - ${lostForMs}::float8 * interval '1 ms'
        order by resolved_at
        limit ${limit}`,
    ),
  );
}

/** Those of the Pix that a charge of ours was credited with: a dispute of any other one is an operator's case. */
export async function findCreditedPix(
  db: Queryable,
  endToEndIds: readonly string[],
): Promise<Set<string>> {
  const rows = await db.query<{ end_to_end_id: string }>(
    named(
      'find_credited_pix',
      sql`
        select received_pix.end_to_end_id from received_pix
        join charges on charges.id = received_pix.charge_id
        where received_pix.end_to_end_id = any(${endToEndIds}::text[])
          and disposition = 'credit' and charges.end_to_end_id = received_pix.end_to_end_id`,
    ),
  );
  return new Set(rows.map((row) => row.end_to_end_id));
}
