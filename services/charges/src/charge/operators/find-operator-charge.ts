import { AppError } from '@pixmesh/kernel/app-error';
import { type ChargeId, readPathId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import type { FastifyRequest } from 'fastify';

import type { ChargeRow } from '#charge/charge-row.ts';
import { findAnyCharge } from '#charge/charges.sql.ts';

/**
 * The charge that an operators' path names, of any account and whatever made it. Looked up before a body is validated.
 * @throws AppError `CHARGE_NOT_FOUND`
 */
export async function findOperatorCharge(
  db: Queryable,
  request: FastifyRequest,
): Promise<ChargeRow> {
  const id = readPathId<ChargeId>((request.params as { id: string }).id);
  const charge = await findAnyCharge(db, id);
  if (charge === null) throw new AppError('CHARGE_NOT_FOUND');
  return charge;
}
