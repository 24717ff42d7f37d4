import { ARRIVAL_MS_MAX } from '@pixmesh/http/service-app';
import { READING_MS_MAX } from '@pixmesh/http/unread-answers';
import { redisAddress } from '@pixmesh/service/redis-connection';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { GatewayConfig } from '#config.ts';

import type { KeyDefault } from './limits-of.ts';
import { createRedisCounts } from './redis-counts.ts';
import { RequestCounters } from './request-counters.ts';

/** For timers of a busy process. */
const LEASE_MARGIN_MS = 5_000;

export function openRequestCounters(config: GatewayConfig, logger: Logger): RequestCounters {
  const timeoutMs = config.RATE_LIMIT_TIMEOUT_MS;
  // A body that arrives, the work, and an answer that is read, each for as long as it may: only what was killed outlasts
  // its lease.
  const leaseMs = ARRIVAL_MS_MAX + config.REQUEST_TIMEOUT_MS + READING_MS_MAX + LEASE_MARGIN_MS;
  const address = redisAddress(config);
  const redis = address && createRedisCounts({ ...address, leaseMs, logger });
  return new RequestCounters({ redis, logger, timeoutMs });
}

export function keyDefaultOf(config: GatewayConfig): KeyDefault {
  const { RATE_LIMIT_PER_KEY: max, RATE_LIMIT_WINDOW_SECONDS: seconds } = config;
  return max === undefined ? null : { max, windowMs: seconds * 1000 };
}
