import type { ChargeStatus } from '@pixmesh/contracts/http/charge';

import type { ShownCharge } from './charge-row.ts';

/**
 * The one predicate of `expired` (decision 82), for rows that were read; `IS_EXPIRED` in `expiry.sql.ts` is the same
 * for rows that are looked for.
 */
export function isExpired(
  charge: Pick<ShownCharge, 'status' | 'acceptedE2e' | 'expiresAt'>,
  now: Date,
): boolean {
  return (
    charge.status === 'pending' &&
    charge.acceptedE2e === null &&
    charge.expiresAt.getTime() <= now.getTime()
  );
}

/** The status as it is shown, decided at the instant of the read. */
export function shownStatus(charge: ShownCharge): ChargeStatus {
  return isExpired(charge, charge.readAt) ? 'expired' : charge.status;
}
