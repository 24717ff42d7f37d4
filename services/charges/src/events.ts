import { counter, observedGauge } from '@pixmesh/telemetry/metrics';
import type { Logger } from '@pixmesh/telemetry/logger';

/** What charges tells operators about its own business, each with its metric. */

const suspensions = counter(
  'charges_suspended_total',
  'Received Pix that went to suspense, by reason',
);
const strangers = counter(
  'pix_notices_ignored_total',
  'Announced Pix without effect, by what the look at the acquirer found',
);
const unbooked = counter(
  'pix_returns_unbooked_total',
  'Returns at the acquirer that could not be booked, by reason',
);
const ignored = counter(
  'charge_happenings_ignored_total',
  'Happenings at the acquirer without a place in the table of transitions',
);

/** An operator has to accept it or send it back (decision 141). */
export function pixSuspended(
  logger: Logger,
  pix: { charge_id: string | null; reason: string },
): void {
  suspensions.add(1, { reason: pix.reason });
  logger.error(pix, 'a received Pix went to suspense');
}

const STRANGERS = {
  not_found: 'a Pix was announced that the acquirer does not know',
  foreign_key: 'a Pix was announced that was not paid to our key',
} as const;

/** Somebody announces money that is not there: a fault of the acquirer, or an attack (decision 217). */
export function noticeIgnored(logger: Logger, outcome: keyof typeof STRANGERS): void {
  strangers.add(1, { outcome });
  logger.error({ outcome }, STRANGERS[outcome]);
}

/** Money left that cannot be explained: reconciliation shows it, too. */
export function returnUnbooked(
  logger: Logger,
  returned: { charge_id: string | null; end_to_end_id: string; reason: string },
): void {
  unbooked.add(1, { reason: returned.reason });
  logger.error(returned, 'a return at the acquirer cannot be booked');
}

export function happeningIgnored(
  logger: Logger,
  happening: { charge_id: string; status: string; happening: string },
): void {
  ignored.add(1, { happening: happening.happening });
  logger.warn(happening, 'what happened to a charge at the acquirer has no place: ignored');
}

/** Gauges that are read when somebody scrapes; in seconds. */
export function observeLags(read: {
  oldestNotice(): Promise<number>;
  receivedList(): Promise<number>;
}): void {
  observedGauge(
    'pix_notice_oldest_age_seconds',
    'Age of the oldest announced Pix that has not been looked at',
    async () => [{ value: await read.oldestNotice() }],
  );
  observedGauge(
    'received_list_lag_seconds',
    'How long ago the list of received Pix was last read to its end',
    async () => [{ value: await read.receivedList() }],
  );
}
