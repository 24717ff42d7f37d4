import { createHash } from 'node:crypto';

import { CreateRecoveryBody } from '@pixmesh/contracts/internal/operator-deliveries';
import { type CreatedOnce, createOnce } from '@pixmesh/http/create-once';
import { parseShape } from '@pixmesh/http/json-request';
import { invalidRequest } from '@pixmesh/http/refusal';
import type { Database } from '@pixmesh/postgres/pool';

import type { ScheduleClock } from '#schedule-clock.ts';

import { findRecovery, insertRecovery, isApplicationOf, isEndpointOf } from './recoveries.sql.ts';
import type { RecoveryOrder, RecoveryRow } from './recovery-row.ts';

export type RecoveryDeps = { db: Database; clock: ScheduleClock };

type Request = {
  id: string;
  operatorId: string;
  /** The operator's object. @throws AppError `VALIDATION_ERROR` when it is none */
  readBody(): Record<string, unknown>;
};

/**
 * Stores a recovery under the id that its key stands for, or answers the one that is there. The job takes it up from
 * the table.
 *
 * @throws AppError `VALIDATION_ERROR`
 */
export async function requestRecovery(
  { db, clock }: RecoveryDeps,
  { id, operatorId, readBody }: Request,
): Promise<CreatedOnce<RecoveryRow>> {
  return await createOnce(true, {
    find: () => findRecovery(db, id),
    readBody: () => readOrder(readBody()),
    fingerprint: fingerprintOf,
    insert: async (order, fingerprint) => {
      await checkOrder(db, order);
      return await insertRecovery(db, clock, { ...order, id, fingerprint, operatorId });
    },
  });
}

export function readOrder(object: Record<string, unknown>): RecoveryOrder {
  const body = parseShape(CreateRecoveryBody, object);
  return {
    accountId: body.account_id,
    applicationId: body.application_id,
    endpointId: body.endpoint_id,
    event: body.event,
    statuses: [...new Set(body.statuses)].sort(),
    createdFrom: body.created_from,
    createdUntil: body.created_until,
    ratePerSecond: body.rate_per_second,
  };
}

/** An empty span of time, or what belongs to another account, is a mistake and not a recovery of nothing. */
async function checkOrder(db: Database, order: RecoveryOrder): Promise<void> {
  const { accountId, applicationId, endpointId, createdFrom, createdUntil } = order;
  if (createdFrom >= createdUntil) {
    throw invalidRequest({ name: 'created_until', expected: 'a time after created_from' });
  }
  if (applicationId !== null && !(await isApplicationOf(db, accountId, applicationId))) {
    throw invalidRequest({
      name: 'application_id',
      expected: 'an application of the account that has deliveries',
    });
  }
  if (endpointId !== null && !(await isEndpointOf(db, accountId, endpointId))) {
    throw invalidRequest({ name: 'endpoint_id', expected: 'an endpoint of the account' });
  }
}

export function fingerprintOf(order: RecoveryOrder): Buffer {
  return createHash('sha256').update(JSON.stringify(order)).digest();
}
