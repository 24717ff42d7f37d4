import { newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { createLogger } from '@pixmesh/telemetry/logger';

import { createExchange } from '#exchange/exchange.ts';
import { LEASE_MARGIN_MS } from '#lanes/lease.ts';
import { type Heartbeat, startHeartbeat } from '#processes/heartbeat.job.ts';
import type { ScheduleClock } from '#schedule-clock.ts';
import { type Sender, startSender } from '#sending/sender.ts';

import { sealingKeys } from './test-dispatcher.ts';

/** Generous, so that a busy machine makes no timeouts of its own. */
const TIMEOUT_MS = 3_000;

type TestSenderOptions = {
  db: Database;
  /** Where each name below `receiver.example.com` leads. */
  receivers: Record<string, number>;
  clock: ScheduleClock;
  timeoutMs?: number;
  leaseMs?: number;
  inFlightMax?: number;
  inFlightPerLaneMax?: number;
  sealingPrivateKeys?: string;
};

/** A sender over real sockets, without Kafka; disposing stops it and closes its connections. */
export function startTestSender(options: TestSenderOptions): Sender {
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const exchange = createExchange({
    timeoutMs,
    resolveName: async () => [],
    devReceivers: Object.entries(options.receivers).map(([name, port]) => ({
      pattern: `${name}.receiver.example.com`,
      target: { address: '127.0.0.1', port },
    })),
    isForbiddenAddress: () => false,
  });
  const sender = startSender({
    db: options.db,
    clock: options.clock,
    processId: newId(),
    logger: createLogger('test', 'silent'),
    exchange,
    sealingPrivateKeys: options.sealingPrivateKeys ?? sealingKeys.privateKeys,
    timeoutMs,
    leaseMs: options.leaseMs ?? timeoutMs + LEASE_MARGIN_MS,
    inFlightMax: options.inFlightMax ?? 64,
    inFlightPerLaneMax: options.inFlightPerLaneMax ?? 10,
  });
  return {
    ...sender,
    [Symbol.asyncDispose]: async () => {
      await sender[Symbol.asyncDispose]();
      await exchange[Symbol.asyncDispose]();
    },
  };
}

/** As every process has one; the senders of a test share a process, so their CPU tells nothing of one of them. */
export function startTestHeartbeat(db: Database, sender: Sender): Heartbeat {
  return startHeartbeat({
    db,
    logger: createLogger('test', 'silent'),
    id: newId(),
    roles: ['sender'],
    sender,
    cpuTimeMs: () => 0,
  });
}

/** A sender to receivers by their names, with a clock that the test turns. */
export function startSenderTo(
  db: Database,
  receivers: Record<string, { port: number }>,
  bounds: Pick<TestSenderOptions, 'inFlightMax' | 'inFlightPerLaneMax' | 'sealingPrivateKeys'> & {
    clock?: TurnableClock;
  } = {},
) {
  const { clock = turnableClock(), ...others } = bounds;
  const ports = Object.entries(receivers).map(([name, { port }]) => [name, port] as const);
  const sender = startTestSender({ db, receivers: Object.fromEntries(ports), clock, ...others });
  return {
    ...sender,
    clock,
    /** So much later, everything that is due then goes out. */
    advance: (ms: number): void => {
      clock.advance(ms);
      sender.wake();
    },
  };
}

export type TurnableClock = ScheduleClock & { advance(ms: number): void };

/** A schedule clock that tests turn forward. */
export function turnableClock(): TurnableClock {
  let offset = 0;
  return {
    offsetMs: () => offset,
    advance: (ms) => {
      offset += ms;
    },
  };
}
