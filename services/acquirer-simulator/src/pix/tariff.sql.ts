import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

/** Name under which the setting is stored. */
export const TARIFF_SETTING = 'tariff';

/** What the provider takes now for each received Pix, in cents; null where it takes nothing. */
export const TARIFF: Statement = sql`
  (
    select nullif((value ->> 'amount')::bigint, 0)
    from settings
    where name = ${TARIFF_SETTING}
  )`;

/** What a Pix that names no charge is recorded with. */
export type ArrivalTerms = { readAt: Date; tariffCents: bigint | null };

export async function readArrivalTerms(db: Queryable): Promise<ArrivalTerms> {
  const rows = await db.query<ArrivalTerms>(
    named(
      'pix_read_arrival',
      sql`select now_()::timestamptz(3) as "readAt", ${TARIFF} as "tariffCents"`,
    ),
  );
  return (rows as [ArrivalTerms])[0];
}
