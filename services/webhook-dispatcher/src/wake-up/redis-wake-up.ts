import { randomUUID } from 'node:crypto';

import type { Logger } from '@pixmesh/telemetry/logger';
import { createClient } from 'redis';

/** Names the lanes in which something is due, for every sender process; carries nothing else. */
const CHANNEL = 'pixmesh:webhook-dispatcher:due';
/** Lanes named in one hint; where there are more, it names none and means all. */
const LANES_PER_HINT_MAX = 500;
const CONNECT_TIMEOUT_MS = 2_000;
const RECONNECT_DELAY_MS = 100;
const RECONNECT_DELAY_MS_MAX = 2_000;

export type WakeUp = AsyncDisposable & {
  /** Notifies the other processes. Never fails and is never waited for: a lost hint costs one poll interval. */
  publish(laneIds: readonly string[]): void;
};

type WakeUpOptions = {
  url: string;
  logger: Logger;
  /** Called on the hints of other processes; absent where nothing is sent. */
  onHint: ((laneIds: readonly string[]) => void) | null;
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
  void subscriber?.subscribe(CHANNEL, receive).catch(() => undefined);
  const waiting = new Set<string>();
  let meansAll = false;
  let publishing = false;
  return {
    publish: (laneIds) => {
      meansAll ||= laneIds.length === 0;
      for (const id of laneIds) waiting.add(id);
      if (!publishing) void publishWaiting();
    },
    [Symbol.asyncDispose]: async () => {
      publisher.destroy();
      subscriber?.destroy();
    },
  };

  /** What comes while one hint is on its way shares the next one. */
  async function publishWaiting(): Promise<void> {
    publishing = true;
    while (meansAll || waiting.size > 0) {
      const lanes = meansAll || waiting.size > LANES_PER_HINT_MAX ? [] : [...waiting];
      waiting.clear();
      meansAll = false;
      if (!publisher.isReady) break;
      await publisher.publish(CHANNEL, [self, ...lanes].join(' ')).catch(() => undefined);
    }
    publishing = false;
  }

  function receive(hint: string): void {
    const [sender, ...lanes] = hint.split(' ');
    if (sender !== self) options.onHint?.(lanes);
  }
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
    if (!isAway) options.logger.warn({ err: error }, 'redis unavailable');
    isAway = true;
  });
  client.on('ready', () => {
    isAway = false;
  });
  void client.connect().catch(() => undefined);
  return client;
}
