import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { ShownCharge } from './payload.ts';

/** The charge behind a location, and whether a payer may still pay it. Index `charges_location`. */
export async function findShownCharge(
  db: Queryable,
  location: string,
): Promise<ShownCharge | null> {
  const [charge = null] = await db.query<ShownCharge>(
    named(
      'charge_find_shown',
      sql`
        select
          txid, status, amount as "amountCents", pix_key as "pixKey",
          expires_in_seconds as "expiresInSeconds", revision, debtor,
          payer_request as "payerRequest", additional_info as "additionalInfo",
          created_at as "createdAt", now_() as "readAt",
          created_at + make_interval(secs => expires_in_seconds) <= now_() as "isExpired"
        from charges
        where location = ${location}`,
    ),
  );
  return charge;
}
