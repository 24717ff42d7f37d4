import type { Parts as ServiceParts } from '@pixmesh/service/start-service';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { type DispatcherConfig, leaseMsOf } from '#config.ts';
import { createExchange } from '#exchange/exchange.ts';
import type { ResolveName } from '#exchange/resolve-name.ts';
import { DRAIN_MARGIN_MS, type Sender, startSender } from '#sending/sender.ts';

import type { ScheduleClock } from './schedule-clock.ts';

/** For lanes to be returned, after the drain has ended. */
const STOP_MARGIN_MS = 1_000;

type Parts = {
  config: DispatcherConfig;
  db: Database;
  logger: Logger;
  clock: ScheduleClock;
  resolveName: ResolveName;
  processId: string;
  use: ServiceParts['use'];
};

/** The role `sender` from its settings. */
export function startSending(parts: Parts): Sender {
  const { config, db, logger, clock, processId } = parts;
  const exchange = parts.use(
    'exchange',
    createExchange({
      timeoutMs: config.DELIVERY_TIMEOUT_MS,
      resolveName: parts.resolveName,
      devReceivers: config.WEBHOOK_DEV_RECEIVERS,
      isForbiddenAddress: config.WEBHOOK_FORBIDDEN_ADDRESSES,
    }),
  );
  const sender = startSender({
    db,
    clock,
    logger,
    processId,
    exchange,
    sealingPrivateKeys: config.WEBHOOK_SEALING_PRIVATE_KEYS ?? '',
    timeoutMs: config.DELIVERY_TIMEOUT_MS,
    leaseMs: leaseMsOf(config),
    inFlightMax: config.DELIVERY_IN_FLIGHT_MAX,
    inFlightPerLaneMax: config.DELIVERY_IN_FLIGHT_PER_LANE_MAX,
  });
  return parts.use('sender', sender, config.DELIVERY_TIMEOUT_MS + DRAIN_MARGIN_MS + STOP_MARGIN_MS);
}
