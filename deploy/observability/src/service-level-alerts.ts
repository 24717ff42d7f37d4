import type { Alert } from './alerts.ts';
import { SERVICE_LEVELS, type ServiceLevel } from './service-levels.ts';

/** Burn rates over two windows each: fast and slow ones page, a low one is for the next day. */
const BURNS = [
  { name: 'Fast', rate: 14.4, long: '1h', short: '5m', for: '1m', severity: 'page' },
  { name: 'Slow', rate: 6, long: '6h', short: '30m', for: '5m', severity: 'page' },
  { name: 'Low', rate: 1, long: '3d', short: '6h', for: '30m', severity: 'ticket' },
] as const;

/** Below so many events in the long window a share of failures says nothing. */
const EVENTS_MIN = 20;

export const SERVICE_LEVEL_ALERTS: readonly Alert[] = SERVICE_LEVELS.flatMap((level) =>
  BURNS.map((burn) => ({
    name: `${level.alert}ErrorBudgetBurn${burn.name}`,
    meaning: `${level.title}: the budget of 30 days is used ${burn.rate} times as fast as it lasts, over ${burn.long}`,
    severity: burn.severity,
    for: burn.for,
    expr: burnExpression(level, burn),
    dashboard: 'mesh',
  })),
);

function burnExpression(level: ServiceLevel, burn: { rate: number; long: string; short: string }) {
  const limit = `${burn.rate} * ${(1 - level.objective).toFixed(6)}`;
  const record = `service_level:${level.id}`;
  return [
    `${record}:failed_ratio_${burn.long} > ${limit}`,
    `${record}:failed_ratio_${burn.short} > ${limit}`,
    `${record}:events_${burn.long} >= ${EVENTS_MIN}`,
  ].join(' and ');
}
