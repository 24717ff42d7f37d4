import { type AccountId, newId, type PayoutId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';

export const DUE_AMOUNT = 1_500n;

/** Puts payouts that are due to be sent into the table, oldest first, with their holds taken elsewhere. */
export async function storeDuePayouts(
  db: Queryable,
  count: number,
  options: { accountId?: AccountId; sendInMs?: number } = {},
): Promise<PayoutId[]> {
  const accountId = options.accountId ?? newId<AccountId>();
  const ids = Array.from({ length: count }, () => newId<PayoutId>());
  const holdIds = ids.map(() => newId());
  await db.query(sql`
    insert into payouts (
      id, account_id, application_id, source, status, amount, fee, pix_key_type, pix_key,
      pix_key_canonical, fingerprint, is_automatic, hold_id, event_sequence, created_at, send_at
    )
    select
      id, ${accountId}, ${newId()}, 'api', 'processing', ${DUE_AMOUNT}, 50, 'email', 'Ana@example.com',
      'ana@example.com', '\\x00', true, hold_id, 1, now(),
      now() + ${options.sendInMs ?? -1_000}::int * interval '1 ms' - (${count}::int - place) * interval '1 ms'
    from unnest(${ids}::uuid[], ${holdIds}::uuid[]) with ordinality as due (id, hold_id, place)`);
  return ids;
}
