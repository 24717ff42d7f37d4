import { randomUUID } from 'node:crypto';

import {
  createRefusalReport,
  observeRedis,
  type RedisAddress,
  redisOptions,
} from '@pixmesh/service/redis-connection';
import type { Logger } from '@pixmesh/telemetry/logger';
import { createClient } from 'redis';

/** Names the lanes in which something is due, for every sender process; carries nothing else. */
const CHANNEL = 'pixmesh:webhook-dispatcher:due';
/** Lanes named in one hint; where there are more, it names none and means all. */
const LANES_PER_HINT_MAX = 500;

export type WakeUp = AsyncDisposable & {
  /** Notifies the other processes. Never fails and is never waited for: a lost hint costs one poll interval. */
  publish(laneIds: readonly string[]): void;
};

type WakeUpOptions = RedisAddress & {
  logger: Logger;
  /** Called on the hints of other processes; absent where nothing is sent. */
  onHint: ((laneIds: readonly string[]) => void) | null;
};

/**
 * Hints between processes over Redis. It connects in the background and for ever: a Redis that is away,
 * flushed or slow changes nothing but latency, because senders poll.
 */
export function createRedisWakeUp(options: WakeUpOptions): WakeUp {
  const self = randomUUID();
  const publisher = connect(options);
  observeRedis(publisher.client);
  const subscriber = options.onHint === null ? null : connect(options);
  void subscriber?.client.subscribe(CHANNEL, receive).catch(subscriber.note);
  const waiting = new Set<string>();
  let meansAll = false;
  let publishing = false;
  return {
    publish: (laneIds) => {
      meansAll ||= laneIds.length === 0;
      for (const id of laneIds) waiting.add(id);
      // While Redis does not answer nothing is sent, and they would be kept without a bound.
      if (waiting.size > LANES_PER_HINT_MAX) {
        meansAll = true;
        waiting.clear();
      }
      if (!publishing) void publishWaiting();
    },
    [Symbol.asyncDispose]: async () => {
      publisher.client.destroy();
      subscriber?.client.destroy();
    },
  };

  /** What comes while one hint is on its way shares the next one. */
  async function publishWaiting(): Promise<void> {
    publishing = true;
    while (meansAll || waiting.size > 0) {
      const lanes = meansAll ? [] : [...waiting];
      waiting.clear();
      meansAll = false;
      if (!publisher.client.isReady) break;
      await publisher.client.publish(CHANNEL, [self, ...lanes].join(' ')).catch(publisher.note);
    }
    publishing = false;
  }

  function receive(hint: string): void {
    const [sender, ...lanes] = hint.split(' ');
    if (sender !== self) options.onHint?.(lanes);
  }
}

function connect({ logger, ...address }: WakeUpOptions) {
  let isAway = false;
  const refusals = createRefusalReport(logger);
  const client = createClient(redisOptions(address));
  client.on('error', (error: unknown) => {
    if (!refusals.note(error) && !isAway) logger.warn({ err: error }, 'redis unavailable');
    isAway = true;
  });
  client.on('ready', () => {
    refusals.accepted();
    isAway = false;
  });
  void client.connect().catch(() => undefined);
  return { client, note: refusals.note };
}
