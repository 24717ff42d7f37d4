import type { TimelineEntry } from '@pixmesh/contracts/internal/timeline';

import type { TimelineStep } from './timeline.sql.ts';

/** A step for people. Of a URL its origin alone: a path or a query may be a secret of the merchant's. */
export function toTimelineEntry(step: TimelineStep): TimelineEntry {
  const { attempt, deliveryId, endpointId, resourceId } = step;
  const place = { at: step.at.toISOString(), resource_id: resourceId } as const;
  const service = 'webhook-dispatcher';
  if (attempt === null) {
    const details = { status: step.status, endpoint_id: endpointId, delivery_id: deliveryId };
    return {
      ...place,
      kind: 'delivery',
      service,
      id: deliveryId,
      what: `${step.event} → ${URL.parse(step.url ?? '')?.origin ?? endpointId ?? resourceId}`,
      details,
    };
  }
  const { number, durationMs, status, address, manual } = attempt;
  return {
    ...place,
    kind: 'attempt',
    service,
    id: attempt.id,
    what: whatOf(attempt),
    details: { number, duration_ms: durationMs, status, address, manual, delivery_id: deliveryId },
  };
}

/** Errors begin with their kind; of a refused request the status is shown instead. */
function whatOf({ outcome, status, error }: NonNullable<TimelineStep['attempt']>): string {
  const kind = error?.split(':')[0] ?? 'unknown';
  if (status !== null && (outcome === 'succeeded' || kind === 'status')) return `POST ${status}`;
  return `POST failed: ${kind}`;
}
