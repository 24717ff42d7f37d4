import type { OperatorDelivery } from '@pixmesh/contracts/internal/operator-deliveries';

import type { StoredAttempt, StoredDelivery } from './list-deliveries.sql.ts';

/** Shape of design section 5. */
export function toDeliveryResource(
  delivery: StoredDelivery,
): Omit<OperatorDelivery, 'account_id' | 'event_id'> {
  return {
    id: delivery.id,
    object: 'delivery',
    event: delivery.event,
    resource_id: delivery.resourceId,
    endpoint_id: delivery.endpointId,
    url: delivery.url,
    status: delivery.status,
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    created_at: delivery.createdAt.toISOString(),
    attempts: delivery.attempts.map(toAttemptResource),
  };
}

/** The same for operators, who see whose it is. */
export function toOperatorDelivery(delivery: StoredDelivery): OperatorDelivery {
  return {
    ...toDeliveryResource(delivery),
    account_id: delivery.accountId,
    event_id: delivery.eventId,
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
