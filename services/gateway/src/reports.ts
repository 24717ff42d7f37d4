import { counter, observedGauge } from '@pixmesh/telemetry/metrics';
import type { Logger } from '@pixmesh/telemetry/logger';

/** Log lines and counters of the gateway for operators. */

const LISTENERS = ['public', 'admin', 'callbacks'] as const;
export type Listener = (typeof LISTENERS)[number];

const unauthorized = counter(
  'gateway_unauthorized_total',
  'Requests without an accepted key or token, and refused handshakes of callbacks',
  LISTENERS.map((listener) => ({ listener })),
);
const mismatches = counter(
  'gateway_idempotency_mismatch_total',
  'Repeats of an Idempotency-Key with another body',
  [],
);
const logRowsDropped = counter('gateway_request_log_dropped_total', 'Rows the request log gave up');
const unsharedRequests = counter(
  'gateway_rate_limit_uncounted_total',
  'Requests that this gateway counted by itself, because Redis gave no answer',
);
const callbacksUnreadable = counter(
  'gateway_callbacks_unreadable_total',
  'Callback bodies stored, but not understood',
);
const callbacksNotKept = counter(
  'gateway_callbacks_not_kept_total',
  'Callback bodies that were not kept as they came: without a known item, or mostly something else',
);
const callbackItemsSkipped = counter(
  'gateway_callback_items_skipped_total',
  'Items of callback bodies that could not be published',
);

const keysRehashed = counter('gateway_keys_moved_total', 'API keys moved to the current pepper');

const unauthenticated = counter(
  'gateway_anonymous_requests_total',
  'Requests to /v1 without an accepted key; a sample of them is in the request log',
  [],
);
const connectionsRefused = counter(
  'gateway_connections_refused_total',
  'Connections closed unread, because their address or the listener had as many as it may',
  LISTENERS.map((listener) => ({ listener })),
);

export function countUnauthorized(listener: Listener): void {
  unauthorized.add(1, { listener });
}

export function countUnauthenticated(labels: { status: number; stored: boolean }): void {
  unauthenticated.add(1, labels);
}

export function countRefusedConnection(listener: Listener): void {
  connectionsRefused.add(1, { listener });
}

export function reportMismatch(
  logger: Logger,
  request: { request_id: string; route: string } & ({ key_id: string } | { actor: string }),
): void {
  mismatches.add(1, { route: request.route });
  logger.warn(request, 'idempotency key repeated with another body');
}

export function reportLogRowsDropped(logger: Logger, rows: number): void {
  logRowsDropped.add(rows);
  logger.warn({ rows }, 'request log rows dropped');
}

export function countUnsharedRequest(): void {
  unsharedRequests.add(1);
}

export function reportLimitsUnshared(logger: Logger, error: unknown): void {
  logger.warn({ err: error }, 'limits: redis unavailable, each gateway counts by itself');
}

export function reportLimitsShared(logger: Logger): void {
  logger.info('limits: redis available');
}

/** Alerted 21 days before: the file asks people not to trust it after its date. */
export function observeSecurityTxt(expiresAt: Date): void {
  observedGauge(
    'gateway_security_txt_expires_timestamp_seconds',
    'When security.txt expires, in seconds since 1970',
    async () => [{ value: Math.floor(expiresAt.getTime() / 1000) }],
  );
}

export function countKeyRehashed(): void {
  keysRehashed.add(1);
}

export function reportKeyNotRehashed(logger: Logger, error: unknown): void {
  logger.warn({ err: error }, 'key not moved to the current pepper, again at its next use');
}

export function reportBodiesNotKept(
  logger: Logger,
  counted: { bodies: number; bytes: number; sha256_of_last: string },
): void {
  logger.warn(counted, 'callback bodies not kept as they came');
}

export function countBodyNotKept(): void {
  callbacksNotKept.add(1);
}

export function reportUnreadableCallback(logger: Logger, callbackId: string): void {
  callbacksUnreadable.add(1);
  logger.warn({ callback_id: callbackId }, 'callback body not readable, stored as received');
}

export function reportSkippedItems(logger: Logger, callbackId: string, items: number): void {
  callbackItemsSkipped.add(items);
  logger.warn({ callback_id: callbackId, items }, 'callback items not published');
}
