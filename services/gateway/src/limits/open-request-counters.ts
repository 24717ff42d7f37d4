import { redisAddress } from '@pixmesh/service/redis-connection';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { GatewayConfig } from '#config.ts';

import type { KeyDefault } from './limits-of.ts';
import { createRedisCounts } from './redis-counts.ts';
import { RequestCounters } from './request-counters.ts';

/**
 * Longer than a body may take to arrive and a request to be answered after it: only what was killed outlasts its lease.
 */
const LEASE_MARGIN_MS = 20_000;

export function openRequestCounters(config: GatewayConfig, logger: Logger): RequestCounters {
  const timeoutMs = config.RATE_LIMIT_TIMEOUT_MS;
  const leaseMs = config.REQUEST_TIMEOUT_MS + LEASE_MARGIN_MS;
  const address = redisAddress(config);
  const redis = address && createRedisCounts({ ...address, leaseMs, logger });
  return new RequestCounters({ redis, logger, timeoutMs });
}

export function keyDefaultOf(config: GatewayConfig): KeyDefault {
  const { RATE_LIMIT_PER_KEY: max, RATE_LIMIT_WINDOW_SECONDS: seconds } = config;
  return max === undefined ? null : { max, windowMs: seconds * 1000 };
}
