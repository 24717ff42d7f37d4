import type { ChargeStatus } from '@pixmesh/contracts/http/charge';
import { sql, type Statement } from '@pixmesh/postgres/sql';

/**
 * The one predicate of `expired` (decision 82): pending, not being paid, and past its time by the clock of the
 * database. `isExpired` in `expiry.ts` is the same for rows that were read.
 */
const IS_EXPIRED = sql`(status = 'pending' and accepted_e2e is null and expires_at <= now())`;

/** Whether a charge is shown with this status, decided at the same instant as `read_at` (decision 83). */
export function isShownAs(status: ChargeStatus): Statement {
  if (status === 'expired') return IS_EXPIRED;
  if (status === 'pending') return sql`(status = 'pending' and not ${IS_EXPIRED})`;
  return sql`status = ${status}`;
}
