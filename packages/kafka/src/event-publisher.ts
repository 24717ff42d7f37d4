import { AppError } from '@pixmesh/kernel/app-error';
import { within } from '@pixmesh/kernel/within';
import { isDatabaseAway } from '@pixmesh/postgres/database-error';
import type { Unpublished } from '@pixmesh/postgres/outbox-relay';
import { Partitioners, type Producer } from 'kafkajs';

import { createKafka, type KafkaOptions, PUBLISH_RETRY } from './kafka-client.ts';
import { type EventToPublish, type Outgoing, toOutgoing } from './outgoing-message.ts';
import { createPartialSend } from './partial-send.ts';
import type { MessageCodec } from './message-codec.ts';

/** Ends before the database ends the relay's transaction, which sits idle meanwhile (12 s). */
const PUBLISH_TIMEOUT_MS = 10_000;
const METADATA_MAX_AGE_MS = 30_000;
/** Bytes of values per request: a broker refuses batches above 1 MiB, and one key may fill a whole claim. */
const REQUEST_BYTES_MAX = 512 * 1024;

export type EventPublisher = AsyncDisposable & {
  /**
   * Publishes what can be: an event that does not fit its schema, and a topic or partition that the broker refuses,
   * leave the others alone. Throws where the broker answers nothing.
   */
  publish(events: readonly EventToPublish[]): Promise<Unpublished>;
  /** For tests and benchmarks: every event or an error. */
  publishAll(events: readonly EventToPublish[]): Promise<void>;
  /** Connects ahead of the first event; a broker that is away is met again at that event. */
  warmUp(): void;
};

type PublisherOptions = KafkaOptions & { codec: MessageCodec; topicPrefix: string };

/** The producer behind the outbox relay: the only one of a service. */
export function createEventPublisher(options: PublisherOptions): EventPublisher {
  const { logger, topicPrefix } = options;
  const sendPartially = createPartialSend({ kafka: createKafka(options), logger, topicPrefix });
  /** That of the next publication. */
  let current: Connection | null = null;
  return { publish, publishAll, warmUp, [Symbol.asyncDispose]: dispose };

  async function publishAll(events: readonly EventToPublish[]): Promise<void> {
    const outgoing = await Promise.all(events.map((event) => toOutgoing(options, event)));
    await byOneProducer((connection) => send(connection, outgoing));
  }

  async function publish(events: readonly EventToPublish[]): Promise<Unpublished> {
    const { outgoing, invalid, postponed } = await encodeValid(options, events);
    if (outgoing.length === 0) return { invalid, postponed };
    const left = await byOneProducer((connection) =>
      sendPartially(outgoing, {
        send: (some) => send(connection, some),
        beginAfresh: () => drop(connection),
      }),
    );
    for (const { eventId } of left) postponed.add(eventId);
    return { invalid, postponed };
  }

  function warmUp(): void {
    const connection = (current ??= connect(options));
    connection.producer.catch(() => drop(connection));
  }

  async function send(connection: Connection, outgoing: readonly Outgoing[]): Promise<void> {
    const producer = await connection.producer;
    for (const request of splitByBytes(outgoing)) {
      const topicMessages = [...Map.groupBy(request, ({ topic }) => topic)].map(
        ([topic, group]) => ({ topic, messages: group.map(({ message }) => message) }),
      );
      await producer.sendBatch({ acks: -1, topicMessages });
    }
  }

  /** A producer that failed once may keep a broken sequence, socket or topic: the next try has another one. */
  async function byOneProducer<T>(publish: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = (current ??= connect(options));
    try {
      return await withinTimeLimit(publish(connection));
    } catch (error) {
      drop(connection);
      throw error;
    }
  }

  /** Of all connections this one alone: another one may have taken its place. */
  function drop(connection: Connection): void {
    if (current === connection) current = null;
    connection.abandon();
  }

  async function dispose(): Promise<void> {
    await current?.producer.then((producer) => producer.disconnect()).catch(() => undefined);
    current = null;
  }
}

type Connection = {
  producer: Promise<Producer>;
  /** Nothing of it reaches the broker from now on: a late request would publish older events behind newer ones. */
  abandon(): void;
};

function connect(options: KafkaOptions): Connection {
  const abandoned = new AbortController();
  const producer = createKafka({ ...options, signal: abandoned.signal }).producer({
    idempotent: true,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    createPartitioner: Partitioners.DefaultPartitioner,
    metadataMaxAge: METADATA_MAX_AGE_MS,
    retry: PUBLISH_RETRY,
  });
  const connected = producer.connect().then(() => producer);
  // A call that finds all its partitions resting sends nothing, and awaits it nowhere.
  connected.catch(() => undefined);
  return {
    producer: connected,
    abandon: () => {
      abandoned.abort();
      producer.disconnect().catch(() => undefined);
    },
  };
}

/**
 * A broker that takes connections and answers nothing would hold the relay's transaction open. Whatever becomes of a
 * late publication, the next try publishes the same events again.
 */
async function withinTimeLimit<T>(publishing: Promise<T>): Promise<T> {
  const wrapped = publishing.then((outcome) => ({ outcome }));
  const published = await within(PUBLISH_TIMEOUT_MS, wrapped, null);
  if (published !== null) return published.outcome;
  throw new AppError('DEPENDENCY_UNAVAILABLE', { message: 'the broker did not answer in time' });
}

/** One that does not fit its schema holds back what follows under its key. */
async function encodeValid(options: PublisherOptions, events: readonly EventToPublish[]) {
  const invalid = new Map<string, string>();
  const postponed = new Set<string>();
  const held = new Set<string>();
  const encoded = await Promise.all(
    events.map((event) => toOutgoing(options, event).catch(toRefusal)),
  );
  const outgoing = encoded.filter((one, index) => {
    const { eventId, topic, key } = events[index]!;
    const orderingKey = JSON.stringify([topic, key]);
    if (held.has(orderingKey)) postponed.add(eventId);
    else if (one instanceof Error) invalid.set(eventId, one.message);
    if (one instanceof Error) held.add(orderingKey);
    return !held.has(orderingKey);
  });
  return { outgoing: outgoing as Outgoing[], invalid, postponed };
}

/** @throws where it is no refusal: the schemas could not be read */
function toRefusal(error: unknown): Error {
  if (isDatabaseAway(error)) throw error;
  return error instanceof Error ? error : new Error(String(error));
}

/** Requests in the order of the events; one event that is too large alone still gets a request of its own. */
function splitByBytes(outgoing: readonly Outgoing[]): Outgoing[][] {
  const requests: Outgoing[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const event of outgoing) {
    bytes += event.message.value.byteLength;
    if (bytes > REQUEST_BYTES_MAX) {
      requests.push([]);
      bytes = event.message.value.byteLength;
    }
    requests.at(-1)?.push(event);
  }
  return requests;
}
