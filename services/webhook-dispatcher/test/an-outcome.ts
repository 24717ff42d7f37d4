import { newId } from '@pixmesh/kernel/ids';

import type { DueDelivery } from '#attempts/due-delivery.ts';
import type { AttemptOutcome } from '#attempts/record-outcomes.sql.ts';
import type { LaneClaim } from '#lanes/claim-lanes.sql.ts';

type Attempted = Pick<
  DueDelivery,
  | 'deliveryId'
  | 'queueId'
  | 'endpointId'
  | 'isResend'
  | 'attemptNumber'
  | 'recoveryId'
  | 'fetchedAtMs'
>;

/** A successful attempt under a claim of its lane. */
export function anOutcome(due: Attempted, lane: LaneClaim): AttemptOutcome {
  return {
    attemptId: newId(),
    deliveryId: due.deliveryId,
    queueId: due.queueId,
    laneId: lane.id,
    fence: lane.fence,
    endpointId: due.endpointId,
    isResend: due.isResend,
    attemptNumber: due.attemptNumber,
    recoveryId: due.recoveryId,
    startedAt: new Date(due.fetchedAtMs),
    durationMs: 3,
    outcome: 'succeeded',
    status: 200,
    error: null,
    responseExcerpt: 'ok',
    address: '127.0.0.1',
    retryDelayMs: null,
  };
}
