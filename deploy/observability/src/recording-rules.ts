import { SERVICE_LEVELS } from './service-levels.ts';

export type RecordingRule = { record: string; expr: string };

/** Windows of the burn rates (`service-level-alerts.ts`). */
const WINDOWS = ['5m', '30m', '1h', '6h', '3d'] as const;

/** Shares of events that failed, and how many there were, by service level and window. */
export const RECORDING_RULES: readonly RecordingRule[] = SERVICE_LEVELS.flatMap((level) =>
  WINDOWS.flatMap((window) => [
    { record: `service_level:${level.id}:events_${window}`, expr: level.all(window) },
    {
      record: `service_level:${level.id}:failed_ratio_${window}`,
      expr: `${level.failed(window)} / clamp_min(${level.all(window)}, 1)`,
    },
  ]),
);
