import type { TimelineEntry } from '@pixmesh/contracts/internal/timeline';

import type { AttemptMade, TimelineStep } from './timeline.sql.ts';

/** A step for people. Of a URL its origin alone: a path or a query may be a secret of the merchant's. */
export function toTimelineEntry(step: TimelineStep): TimelineEntry {
  const { deliveryId, endpointId, resourceId } = step;
  const place = { at: step.at.toISOString(), resource_id: resourceId } as const;
  const service = 'webhook-dispatcher';
  if (step.attemptId === null) {
    const details = {
      status: step.deliveryStatus,
      endpoint_id: endpointId,
      delivery_id: deliveryId,
    };
    return {
      ...place,
      kind: 'delivery',
      service,
      id: deliveryId,
      what: `${step.event} → ${URL.parse(step.url ?? '')?.origin ?? endpointId ?? resourceId}`,
      details,
    };
  }
  const { number, durationMs, status, address, manual } = step;
  return {
    ...place,
    kind: 'attempt',
    service,
    id: step.attemptId,
    what: whatOf(step),
    details: { number, duration_ms: durationMs, status, address, manual, delivery_id: deliveryId },
  };
}

/** Errors begin with their kind; of a refused request the status is shown instead. */
function whatOf({ outcome, status, error }: AttemptMade): string {
  const kind = error?.split(':')[0] ?? 'unknown';
  if (status !== null && (outcome === 'succeeded' || kind === 'status')) return `POST ${status}`;
  return `POST failed: ${kind}`;
}
