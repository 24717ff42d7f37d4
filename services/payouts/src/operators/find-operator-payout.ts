import { parseId, type PayoutId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import type { FastifyRequest } from 'fastify';

import type { VisiblePayout } from '#payouts/payout-row.ts';

import { findVisible } from './act-on-queued.ts';

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
