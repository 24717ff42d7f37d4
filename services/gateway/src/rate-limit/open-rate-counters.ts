import type { Logger } from '@pixmesh/telemetry/logger';

import type { GatewayConfig } from '#config.ts';
import type { RateCounters } from './limit-rate.ts';
import { createRedisRateCounters } from './redis-rate-counters.ts';

/** Null while the switch is off: then no connection is made (decision 24). */
export function openRateCounters(config: GatewayConfig, logger: Logger): RateCounters | null {
  const { RATE_LIMIT_PER_KEY: requests, REDIS_URL: url } = config;
  if (requests === undefined || url === undefined) return null;
  return createRedisRateCounters({
    url,
    logger,
    requests,
    windowSeconds: config.RATE_LIMIT_WINDOW_SECONDS,
    timeoutMs: config.RATE_LIMIT_TIMEOUT_MS,
  });
}
