import { randomUUID } from 'node:crypto';

import type { Logger } from '@pixmesh/telemetry/logger';
import { createClient } from 'redis';

/** Says "something is due" to every sender process; carries nothing else. */
const CHANNEL = 'pixmesh:webhook-dispatcher:due';
const CONNECT_TIMEOUT_MS = 2_000;
const RECONNECT_DELAY_MS = 100;
const RECONNECT_DELAY_MS_MAX = 2_000;

export type WakeUp = AsyncDisposable & {
  /** Tells the other processes. Never fails and is never waited for: a lost hint costs one poll interval. */
  publish(): void;
};

type WakeUpOptions = {
  url: string;
  logger: Logger;
  /** Called on the hints of other processes; absent where nothing is sent. */
  onHint: (() => void) | null;
};

type Client = ReturnType<typeof createClient>;

/**
 * Hints between processes over Redis. It connects in the background and for ever: a Redis that is away,
 * flushed or slow changes nothing but latency, because senders poll.
 */
export function createRedisWakeUp(options: WakeUpOptions): WakeUp {
  const self = randomUUID();
  const publisher = connect(options);
  const subscriber = options.onHint === null ? null : connect(options);
  void subscriber
    ?.subscribe(CHANNEL, (sender) => {
      if (sender !== self) options.onHint?.();
    })
    .catch(() => undefined);
  let publishing = false;
  return {
    publish: () => {
      // One hint on its way says everything that further ones would.
      if (publishing || !publisher.isReady) return;
      publishing = true;
      void publisher
        .publish(CHANNEL, self)
        .catch(() => undefined)
        .finally(() => {
          publishing = false;
        });
    },
    [Symbol.asyncDispose]: async () => {
      publisher.destroy();
      subscriber?.destroy();
    },
  };
}

function connect(options: WakeUpOptions): Client {
  let isAway = false;
  const client: Client = createClient({
    url: options.url,
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      reconnectStrategy: (tries) =>
        Math.min(RECONNECT_DELAY_MS * 2 ** tries, RECONNECT_DELAY_MS_MAX),
    },
  });
  client.on('error', (error: unknown) => {
    if (!isAway) options.logger.warn({ err: error }, 'redis is away; senders poll');
    isAway = true;
  });
  client.on('ready', () => {
    isAway = false;
  });
  void client.connect().catch(() => undefined);
  return client;
}
