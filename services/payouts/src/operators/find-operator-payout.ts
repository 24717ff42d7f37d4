import { AppError } from '@pixmesh/kernel/app-error';
import { parseId, type PayoutId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import type { FastifyRequest } from 'fastify';

import { isVisible, type VisiblePayout } from '#payouts/payout-row.ts';
import { findAnyPayout } from '#payouts/payouts.sql.ts';

/**
 * The payout that an operators' path names, of any account. Looked up before a body is validated.
 * @throws AppError `PAYOUT_NOT_FOUND`
 */
export async function findOperatorPayout(
  db: Queryable,
  request: FastifyRequest,
): Promise<VisiblePayout> {
  return await findVisible(db, parseId<PayoutId>((request.params as { id: string }).id));
}

/** @throws AppError `PAYOUT_NOT_FOUND` for an intent too, which is shown to nobody */
export async function findVisible(db: Queryable, id: PayoutId | null): Promise<VisiblePayout> {
  const payout = id === null ? null : await findAnyPayout(db, id);
  if (payout === null || !isVisible(payout)) throw new AppError('PAYOUT_NOT_FOUND');
  return payout;
}
