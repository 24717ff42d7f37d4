import type { MessageType } from '@pixmesh/contracts/messages/message-type';
import { startOutboxRelay, type Unpublished } from '@pixmesh/postgres/outbox-relay';
import { startPartitionUpkeep } from '@pixmesh/postgres/partition-upkeep';
import { startCommandResends } from '@pixmesh/postgres/unanswered-commands';
import { declareFailpoints } from '@pixmesh/service/failpoints';
import type { WakeSignal } from '@pixmesh/service/wake-signal';

import { createEventPublisher } from './event-publisher.ts';
import type { MessageCodec } from './message-codec.ts';
import type { Messaging } from './messaging.ts';
import type { EventToPublish } from './outgoing-message.ts';
import { startReadingSchemas } from './read-schemas.job.ts';

/** A drain begins no batch after 3 s; a broker that answers nothing is not waited for. */
export const OUTBOX_STOP_MS_MAX = 4_000;

const failpoint = declareFailpoints(['outbox.relay.after-publish']);

export type OutboxOptions = Messaging & {
  produces: readonly MessageType[];
  /** Notified when events are committed. */
  signal: WakeSignal;
  /** Of a service that sends commands: after how long one without an outcome is sent again. */
  resendMs?: number;
};

export type Outbox = AsyncDisposable & { isAlive(): boolean };

/**
 * Publishes what a service commits, for as long as the process lives. A stop publishes what it can within 3 s; the rest
 * stays queued for another process.
 * Returns at once; the relay starts beside it, as soon as the schemas are read from the database, and waits by itself
 * for a broker that is away. Where a schema is not stored, the deploy job of this version has not run, and the process
 * ends: it must not replace one that works.
 */
export function startOutbox(options: OutboxOptions): Outbox {
  const { db, logger } = options;
  let publishing: Outbox | null = null;
  const schemas = startReadingSchemas({
    ...options,
    name: 'schemas of what is published',
    messages: options.produces,
    onKnown: (codec) => {
      publishing = startPublishing(options, codec);
    },
  });
  const upkeep = startPartitionUpkeep({ db, logger });
  return {
    isAlive: () => [schemas, upkeep, publishing].every((one) => one?.isAlive() ?? true),
    [Symbol.asyncDispose]: async () => {
      await schemas[Symbol.asyncDispose]();
      await publishing?.[Symbol.asyncDispose]();
      await upkeep[Symbol.asyncDispose]();
    },
  };
}

function startPublishing(options: OutboxOptions, codec: MessageCodec): Outbox {
  const { signal, resendMs, ...messaging } = options;
  const { service: clientId, db, logger } = messaging;
  const publisher = createEventPublisher({ ...messaging, clientId, codec });
  publisher.warmUp();
  const relay = startOutboxRelay({ db, logger, publish, signal });
  const resends =
    resendMs === undefined
      ? null
      : startCommandResends({ db, logger, resendMs, wakeOutbox: signal.notify });
  return {
    isAlive: () => relay.isAlive() && (resends?.isAlive() ?? true),
    [Symbol.asyncDispose]: async () => {
      await resends?.[Symbol.asyncDispose]();
      await relay[Symbol.asyncDispose]();
      await publisher[Symbol.asyncDispose]();
    },
  };

  async function publish(events: readonly EventToPublish[]): Promise<Unpublished> {
    const unpublished = await publisher.publish(events);
    await failpoint('outbox.relay.after-publish');
    return unpublished;
  }
}
