import type { MeshIdentity } from '@pixmesh/certificates/mesh-identity';
import type { MessageType } from '@pixmesh/contracts/messages/message-type';
import type { Topic } from '@pixmesh/contracts/topics';
import { countOpenLetters, parkMessage } from '@pixmesh/postgres/dead-letters';
import { startOutboxRelay, type Unpublished } from '@pixmesh/postgres/outbox-relay';
import { startPartitionUpkeep } from '@pixmesh/postgres/partition-upkeep';
import type { Database } from '@pixmesh/postgres/pool';
import { startCommandResends } from '@pixmesh/postgres/unanswered-commands';
import { declareFailpoints } from '@pixmesh/service/failpoints';
import type { WakeSignal } from '@pixmesh/service/wake-signal';
import type { Logger } from '@pixmesh/telemetry/logger';
import { observedGauge } from '@pixmesh/telemetry/metrics';

import { type BrokerAccess, brokerAccess } from './broker-access.ts';
import { type RunningConsumer, startConsumer } from './consumer.ts';
import {
  createDeadLettersOfService,
  type DeadLettersOfService,
} from './dead-letters-of-service.ts';
import { createEventPublisher } from './event-publisher.ts';
import type { MessageCodec } from './message-codec.ts';
import type { EventToPublish } from './outgoing-message.ts';
import type { MessageHandler } from './message-handler.ts';
import { startReadingSchemas } from './read-schemas.job.ts';

const failpoint = declareFailpoints(['outbox.relay.after-publish']);

/** One consumer group: one purpose, so that a slow one cannot hold up another. */
export type ConsumerGroup = {
  groupId: string;
  topics: readonly Topic[];
  handlers: readonly MessageHandler[];
  /**
   * For messages that do not wait for each other: up to `max` of a partition are in hand at once. Handlers still begin
   * in the order of the messages, and none counts as handled before all those in front of it. Default: one by one.
   */
  concurrency?: { max: number };
  /** Resolves when nothing is left that handlers do beside their messages; a stop waits for it. */
  settled?(): Promise<void>;
  /** A process that comes or goes interrupts the group for a shorter time, and each idle process fetches more often. */
  shortPauses?: boolean;
};

export type MessagingOptions = BrokerAccess & {
  service: string;
  registryUrl: string;
  topicPrefix: string;
  db: Database;
  logger: Logger;
  /**
   * What this service produces, and the signal that is notified when events are committed; null: it has no outbox.
   * A service that sends commands says after how long one without an outcome is sent again.
   */
  outbox: { produces: readonly MessageType[]; signal: WakeSignal; resendMs?: number } | null;
  consumes: readonly ConsumerGroup[];
  /** True: other processes consume these groups, and this one handles what is replayed of their dead letters. */
  replaysOnly?: boolean;
  /**
   * Called when a consumer has given up for good, or a schema is not stored: the process must end and be started again.
   */
  onFatal(error: Error): void;
};

/** The broker, the registry and the names of topics, as every service has them from its environment. */
export function messagingSettings(
  config: Parameters<typeof brokerAccess>[0] & {
    SCHEMA_REGISTRY_URL: string;
    KAFKA_TOPIC_PREFIX: string;
  },
  identity: MeshIdentity,
): BrokerAccess & Pick<MessagingOptions, 'registryUrl' | 'topicPrefix'> {
  return {
    ...brokerAccess(config, identity),
    registryUrl: config.SCHEMA_REGISTRY_URL,
    topicPrefix: config.KAFKA_TOPIC_PREFIX,
  };
}

/** What a service runs over Kafka: its outbox relay, its consumers, and its dead letters. */
export type Messaging = AsyncDisposable & {
  isAlive(): boolean;
  /** Consumers join their groups from here on; the frame of the service calls it when all parts have started. */
  onReady(): void;
  deadLetters: DeadLettersOfService;
};

/**
 * Returns at once. The relay starts beside it, as soon as the schemas are read from the database, and the consumers once
 * the service is ready too: a process that still starts would hold partitions and handle nothing of them. Both wait for
 * a broker that is away by themselves. Where a schema is not stored, the deploy job of this version has not run,
 * and the process ends: it must not replace one that works.
 */
export function startMessaging(options: MessagingOptions): Messaging {
  const { db, logger, outbox } = options;
  let running: RelayAndConsumers | null = null;
  let isReady = false;
  const schemas = startReadingSchemas({
    db,
    logger,
    registryUrl: options.registryUrl,
    messages: messagesOf(options),
    onKnown: (codec) => {
      running = startRelayAndConsumers(options, codec);
      if (isReady) running.consume();
    },
    onFatal: options.onFatal,
  });
  const upkeep = outbox && startPartitionUpkeep({ db, logger });
  observedGauge('dead_letters_open', 'Parked messages that wait for an operator', async () => [
    { value: await countOpenLetters(db) },
  ]);
  return {
    isAlive: () => [schemas, upkeep, running].every((one) => one?.isAlive() ?? true),
    onReady: () => {
      isReady = true;
      running?.consume();
    },
    deadLetters: createDeadLettersOfService({
      db,
      groups: options.consumes,
      codec: () => running?.codec ?? null,
      wakeOutbox: () => outbox?.signal.notify(),
    }),
    [Symbol.asyncDispose]: async () => {
      await schemas[Symbol.asyncDispose]();
      await running?.[Symbol.asyncDispose]();
      await upkeep?.[Symbol.asyncDispose]();
    },
  };
}

function messagesOf({ outbox, consumes }: MessagingOptions): MessageType[] {
  const handled = consumes.flatMap((group) => group.handlers.map(({ message }) => message));
  return [...(outbox?.produces ?? []), ...handled];
}

type RelayAndConsumers = AsyncDisposable & {
  codec: MessageCodec;
  consume(): void;
  isAlive(): boolean;
};

/** Relay and consumers, once every schema is known; the consumers start with `consume`. */
function startRelayAndConsumers(options: MessagingOptions, codec: MessageCodec): RelayAndConsumers {
  const { service: clientId, topicPrefix, db, logger, outbox, onFatal } = options;
  const { brokers, security } = options;
  const client = { brokers, security, clientId, logger, codec, topicPrefix };
  const publisher = createEventPublisher(client);
  if (outbox !== null) publisher.warmUp();
  const relay = outbox && startOutboxRelay({ db, logger, publish, signal: outbox.signal });
  const resends = outbox?.resendMs
    ? startCommandResends({
        db,
        logger,
        resendMs: outbox.resendMs,
        wakeOutbox: outbox.signal.notify,
      })
    : null;
  let consumers: RunningConsumer[] = [];
  return {
    codec,
    consume: () => {
      consumers = options.replaysOnly ? [] : options.consumes.map(consumeGroup);
    },
    isAlive: () => [relay, resends, ...consumers].every((one) => one?.isAlive() ?? true),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(consumers.map((consumer) => consumer.stop()));
      for (const group of options.consumes) await group.settled?.();
      await resends?.[Symbol.asyncDispose]();
      await relay?.[Symbol.asyncDispose]();
      await publisher[Symbol.asyncDispose]();
    },
  };

  function consumeGroup(group: ConsumerGroup): RunningConsumer {
    return startConsumer({
      ...group,
      ...client,
      onFatal,
      park: (letter) => parkMessage(db, group.groupId, letter),
    });
  }

  async function publish(events: readonly EventToPublish[]): Promise<Unpublished> {
    const unpublished = await publisher.publish(events);
    await failpoint('outbox.relay.after-publish');
    return unpublished;
  }
}
