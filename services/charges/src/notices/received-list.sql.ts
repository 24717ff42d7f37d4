import type { ChargeId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/** A Pix of the list, as far as it is compared: the charge that its txid may name, and its returns carried out. */
export type ListedPix = {
  endToEndId: string;
  chargeId: ChargeId | null;
  returnIds: readonly string[];
};

export type Unrecorded = {
  /** Charges of ours that have a Pix which is not recorded. */
  charges: ChargeId[];
  /** Pix that no charge explains, and those of which a return is not recorded: the charge's answer may not show it. */
  unexplained: string[];
};

/**
 * What of a page of the list is not recorded here. Primary key reads, in one statement: `offset 0` and scalar selects
 * keep the planner from joins that read whole tables.
 */
export async function findUnrecorded(
  db: Queryable,
  page: readonly ListedPix[],
): Promise<Unrecorded> {
  if (page.length === 0) return { charges: [], unexplained: [] };
  const returns = page.flatMap(({ endToEndId, returnIds }) =>
    returnIds.map((returnId) => ({ endToEndId, returnId })),
  );
  const rows = await db.query<UnrecordedRow>(
    named(
      'find_unrecorded_pix',
      sql`
        with listed as (
          select * from unnest(
            ${page.map(({ endToEndId }) => endToEndId)}::text[],
            ${page.map(({ chargeId }) => chargeId)}::uuid[]
          ) as listed (end_to_end_id, charge_id)
        ),
        fresh as (
          select listed.end_to_end_id, charges.id as charge_id, charges.status is distinct from 'failed' as is_explained
          from listed
          left join lateral (
            select id, status from charges where id = listed.charge_id offset 0
          ) as charges on true
          where (
            select recorded.end_to_end_id from received_pix as recorded where recorded.end_to_end_id = listed.end_to_end_id
          ) is null
        ),
        returned as (
          select received_pix.end_to_end_id, null::uuid as charge_id, false as is_explained
          from unnest(
            ${returns.map(({ endToEndId }) => endToEndId)}::text[],
            ${returns.map(({ returnId }) => returnId)}::text[]
          ) as returned (end_to_end_id, return_id)
          join received_pix using (end_to_end_id)
          where not exists (
            select from pix_returns
            where pix_returns.end_to_end_id = returned.end_to_end_id
              and pix_returns.return_id = returned.return_id
          )
        )
        select end_to_end_id, charge_id, is_explained from fresh
        union
        select end_to_end_id, charge_id, is_explained from returned`,
    ),
  );
  const charges = rows.flatMap(({ charge_id }) => (charge_id === null ? [] : [charge_id]));
  return {
    charges: [...new Set(charges)],
    unexplained: rows.flatMap((row) =>
      row.charge_id === null || !row.is_explained ? [row.end_to_end_id] : [],
    ),
  };
}

type UnrecordedRow = {
  end_to_end_id: string;
  charge_id: ChargeId | null;
  /** Whether a check of its charge may show it: one that failed may never have been issued. */
  is_explained: boolean;
};
