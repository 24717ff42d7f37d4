import type { Topic } from '@pixmesh/contracts/topics';
import { AppError } from '@pixmesh/kernel/app-error';
import { parkMessage, type RawMessage } from '@pixmesh/postgres/dead-letters';

import { type RunningConsumer, startConsumer } from './consumer.ts';
import {
  createDeadLettersOfService,
  type DeadLettersOfService,
} from './dead-letters-of-service.ts';
import type { MessageCodec } from './message-codec.ts';
import type { MessageHandler } from './message-handler.ts';
import type { Messaging } from './messaging.ts';
import type { EventToPublish } from './outgoing-message.ts';
import { toRawMessage } from './parked-letter.ts';
import { startReadingSchemas } from './read-schemas.job.ts';

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

export type ConsumersOptions = Messaging & {
  groups: readonly ConsumerGroup[];
  /** True: other processes consume these groups, and this one handles what is replayed of their dead letters. */
  replaysOnly?: boolean;
  /** Wakes the relay of a service that has one, when a parked event of its outbox is published after all. */
  wakeOutbox?(): void;
};

export type Consumers = AsyncDisposable & {
  isAlive(): boolean;
  /** The groups are joined from here on; the frame of the service calls it when all parts have started. */
  onReady(): void;
  deadLetters: DeadLettersOfService;
  /**
   * The message of an event that a consumer has taken in and that is refused later, to be parked.
   * @throws AppError `DEPENDENCY_UNAVAILABLE` until every schema is known
   */
  toRawMessage(event: EventToPublish): Promise<RawMessage>;
};

/**
 * Consumes the groups of a service. Returns at once; the groups are joined when the schemas are read from the database
 * and the service is ready, because a process that still starts would hold partitions and handle nothing of them. A
 * broker that is away is waited for. Where a schema is not stored, the process ends, as for `startOutbox`.
 */
export function startConsumers(options: ConsumersOptions): Consumers {
  const { service: clientId, db, groups, replaysOnly = false } = options;
  const consumers: RunningConsumer[] = [];
  let codec: MessageCodec | null = null;
  let isReady = false;
  const schemas = startReadingSchemas({
    ...options,
    name: 'schemas of what is consumed',
    messages: groups.flatMap((group) => group.handlers.map(({ message }) => message)),
    onKnown: (known) => {
      codec = known;
      joinGroups();
    },
  });
  return {
    isAlive: () => [schemas, ...consumers].every((one) => one.isAlive()),
    onReady: () => {
      isReady = true;
      joinGroups();
    },
    deadLetters: createDeadLettersOfService({
      db,
      groups,
      codec: () => codec,
      wakeOutbox: options.wakeOutbox,
    }),
    toRawMessage: async (event) => {
      if (codec === null) throw new AppError('DEPENDENCY_UNAVAILABLE');
      return await toRawMessage(codec, event);
    },
    [Symbol.asyncDispose]: async () => {
      await schemas[Symbol.asyncDispose]();
      await Promise.all(consumers.map((consumer) => consumer.stop()));
      for (const group of groups) await group.settled?.();
    },
  };

  /** Called at both reasons to wait, and does it at the second. */
  function joinGroups(): void {
    if (codec === null || !isReady || replaysOnly) return;
    for (const group of groups) consumers.push(startGroup(group, codec));
  }

  function startGroup(group: ConsumerGroup, known: MessageCodec): RunningConsumer {
    return startConsumer({
      ...options,
      ...group,
      clientId,
      codec: known,
      park: (letter) => parkMessage(db, group.groupId, letter),
    });
  }
}
