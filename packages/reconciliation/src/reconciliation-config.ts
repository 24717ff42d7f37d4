import { milliseconds } from '@pixmesh/service/config';

/** Settings of every service that reconciles. */
export const ReconciliationConfig = {
  /** Between incremental runs. */
  RECONCILIATION_MS: milliseconds(300_000),
  /** Between full runs. */
  RECONCILIATION_FULL_MS: milliseconds(86_400_000),
  /** Differences younger than this are no breaks yet. */
  RECONCILIATION_WINDOW_MS: milliseconds(60_000),
} as const;

/** The periods of `startReconciliation`, from the settings. */
export function reconciliationPeriods(config: {
  RECONCILIATION_MS: number;
  RECONCILIATION_FULL_MS: number;
  RECONCILIATION_WINDOW_MS: number;
}) {
  return {
    intervalMs: config.RECONCILIATION_MS,
    fullIntervalMs: config.RECONCILIATION_FULL_MS,
    windowMs: config.RECONCILIATION_WINDOW_MS,
  };
}
