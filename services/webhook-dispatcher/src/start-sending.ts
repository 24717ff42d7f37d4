import type { createStopList } from '@pixmesh/service/stop-in-order';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { type DispatcherConfig, leaseMsOf } from '#config.ts';
import { createExchange } from '#exchange/exchange.ts';
import type { ResolveName } from '#exchange/resolve-name.ts';
import { type Sender, startSender } from '#sending/sender.ts';

import type { ScheduleClock } from './schedule-clock.ts';

type Parts = {
  config: DispatcherConfig;
  db: Database;
  logger: Logger;
  clock: ScheduleClock;
  resolveName: ResolveName;
  /** Takes what has to outlive the sender. */
  resources: ReturnType<typeof createStopList>;
};

/** The role `sender` from its settings. */
export function startSending(parts: Parts): Sender {
  const { config, db, logger, clock } = parts;
  const exchange = createExchange({
    timeoutMs: config.DELIVERY_TIMEOUT_MS,
    resolveName: parts.resolveName,
    devReceivers: config.WEBHOOK_DEV_RECEIVERS,
    isForbiddenAddress: config.WEBHOOK_FORBIDDEN_ADDRESSES,
  });
  parts.resources.use('exchange', exchange);
  return startSender({
    db,
    clock,
    logger,
    exchange,
    sealingPrivateKeys: config.WEBHOOK_SEALING_PRIVATE_KEYS ?? '',
    timeoutMs: config.DELIVERY_TIMEOUT_MS,
    leaseMs: leaseMsOf(config),
    inFlightMax: config.DELIVERY_IN_FLIGHT_MAX,
    inFlightPerLaneMax: config.DELIVERY_IN_FLIGHT_PER_LANE_MAX,
  });
}
