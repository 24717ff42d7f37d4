import type { OperatorDelivery } from '@pixmesh/contracts/internal/operator-deliveries';

import type { StoredAttempt, StoredDelivery } from './describe-deliveries.sql.ts';

/** A delivery as operators see it, with whose it is. */
export function toOperatorDelivery(delivery: StoredDelivery): OperatorDelivery {
  return {
    id: delivery.id,
    object: 'delivery',
    account_id: delivery.accountId,
    event: delivery.event,
    event_id: delivery.eventId,
    resource_id: delivery.resourceId,
    endpoint_id: delivery.endpointId,
    url: delivery.url,
    status: delivery.status,
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    created_at: delivery.createdAt.toISOString(),
    attempts: delivery.attempts.map(toAttemptResource),
  };
}

function toAttemptResource(attempt: StoredAttempt): OperatorDelivery['attempts'][number] {
  return {
    number: attempt.number,
    started_at: attempt.startedAt.toISOString(),
    duration_ms: attempt.durationMs,
    outcome: attempt.outcome,
    status: attempt.status,
    error: attempt.error,
    response_excerpt: attempt.responseExcerpt,
    address: attempt.address,
    manual: attempt.manual,
  };
}
