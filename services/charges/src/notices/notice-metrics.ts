import type { Logger } from '@pixmesh/telemetry/logger';
import { counter, observedGauge } from '@pixmesh/telemetry/metrics';

/** Metrics of announced Pix, and the log line that goes with them. */

const ignored = counter(
  'pix_notices_ignored_total',
  'Announced Pix without effect, by what the status check found',
  [],
);

/** A notice names money that is not there: a fault of the acquirer, or an attack (decision 217). */
export function noticeIgnored(logger: Logger, outcome: 'not_found' | 'foreign_key'): void {
  ignored.add(1, { outcome });
  logger.error({ outcome }, 'notice of a Pix ignored');
}

/** Gauges that are read at each scrape; in seconds. */
export function observeLags(read: {
  oldestNotice(): Promise<number>;
  receivedList(): Promise<number>;
}): void {
  observedGauge(
    'pix_notice_oldest_age_seconds',
    'Age of the oldest announced Pix that has not been checked',
    async () => [{ value: await read.oldestNotice() }],
  );
  observedGauge(
    'received_list_lag_seconds',
    'How long ago the list of received Pix was last read to its end',
    async () => [{ value: await read.receivedList() }],
  );
}
