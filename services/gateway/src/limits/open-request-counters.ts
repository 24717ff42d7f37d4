import { redisAddress } from '@pixmesh/service/redis-connection';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { GatewayConfig } from '#config.ts';

import type { KeyDefault } from './limits-of.ts';
import { createRedisCounts } from './redis-counts.ts';
import { RequestCounters } from './request-counters.ts';

/** Of what a gateway has in flight: how long one that was killed or stands still holds its places. */
const LEASE_MS = 10_000;

export function openRequestCounters(config: GatewayConfig, logger: Logger): RequestCounters {
  const timeoutMs = config.RATE_LIMIT_TIMEOUT_MS;
  const address = redisAddress(config);
  const redis = address && createRedisCounts({ ...address, leaseMs: LEASE_MS, logger });
  return new RequestCounters({ redis, logger, timeoutMs });
}

export function keyDefaultOf(config: GatewayConfig): KeyDefault {
  const { RATE_LIMIT_PER_KEY: max, RATE_LIMIT_WINDOW_SECONDS: seconds } = config;
  return max === undefined ? null : { max, windowMs: seconds * 1000 };
}
