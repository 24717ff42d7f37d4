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

/** Read at each scrape, in seconds: the oldest of the 10,000 whose checks come first. */
export function observeNotices(oldestSeconds: () => Promise<number>): void {
  observedGauge(
    'pix_notice_oldest_age_seconds',
    'Age of the oldest announced Pix that has not been checked',
    async () => [{ value: await oldestSeconds() }],
  );
}
