import { setTimeout as delay } from 'node:timers/promises';

import type { Topic } from '@pixmesh/contracts/topics';
import { AppError } from '@pixmesh/kernel/app-error';
import type { PublishableEvent, Unpublished } from '@pixmesh/postgres/outbox-relay';
import { recordSpan } from '@pixmesh/telemetry/tracing';
import { type Message, type PartitionMetadata, Partitioners, type Producer } from 'kafkajs';

import { createKafka, type KafkaOptions } from './kafka-client.ts';
import { createRefusedPlaces, type Place } from './refused-places.ts';
import type { MessageCodec } from './schema-registry.ts';

/** The relay tries for ever; one publication does not. */
const PUBLISH_RETRY = { initialRetryTime: 100, maxRetryTime: 500, retries: 1 };
/** Ends before the database ends the relay's transaction, which sits idle meanwhile (15 s). */
const PUBLISH_TIMEOUT_MS = 10_000;
const METADATA_MAX_AGE_MS = 30_000;
/** Bytes of values per request: a broker refuses batches above 1 MiB, and one key may fill a whole claim. */
const REQUEST_BYTES_MAX = 512 * 1024;

const partitioner = Partitioners.DefaultPartitioner();

export type EventToPublish = Omit<PublishableEvent, 'sequence'>;

export type EventPublisher = AsyncDisposable & {
  /** Resolves when every event is durable at the broker; a failure may still have written some of them. */
  publish(events: readonly EventToPublish[]): Promise<void>;
  /**
   * Publishes what can be: an event that does not fit its schema, and a topic or partition that the broker refuses,
   * leave the others alone. Throws where the broker answers nothing.
   */
  publishWhatGoes(events: readonly EventToPublish[]): Promise<Unpublished>;
  /** Connects ahead of the first event; a broker that is away is met again at that event. */
  warmUp(): void;
};

type PublisherOptions = KafkaOptions & { codec: MessageCodec; topicPrefix: string };
type Outgoing = { eventId: string; topic: string; message: Message & { value: Buffer } };

/** The producer behind the outbox relay: the only one of a service. */
export function createEventPublisher(options: PublisherOptions): EventPublisher {
  const kafka = createKafka(options);
  const refused = createRefusedPlaces(options.logger);
  let connected: Promise<Producer> | null = null;
  /** Partitions of the topics that have refused something; others are sent without knowing theirs. */
  const partitionsOf = new Map<string, PartitionMetadata[]>();
  return { publish, publishWhatGoes, warmUp, [Symbol.asyncDispose]: disconnect };

  async function publish(events: readonly EventToPublish[]): Promise<void> {
    const outgoing = await Promise.all(events.map((event) => toOutgoing(options, event)));
    await withinTimeLimit(send(outgoing));
  }

  async function publishWhatGoes(events: readonly EventToPublish[]): Promise<Unpublished> {
    const { outgoing, misfits, postponed } = await encodeWhatFits(options, events);
    const going = outgoing.filter((one) => !refused.isResting(placeOf(one)));
    const left = going.length === 0 ? [] : await withinTimeLimit(sendWhatGoes(going));
    const resting = outgoing.filter((one) => !going.includes(one));
    for (const { eventId } of [...resting, ...left]) postponed.add(eventId);
    return { misfits, postponed };
  }

  /** All together first; where that is refused, topic by topic, and then by partition. Answers what is left. */
  async function sendWhatGoes(outgoing: readonly Outgoing[]): Promise<Outgoing[]> {
    if ((await trySend(outgoing)) === null) return [];
    const left: Outgoing[] = [];
    for (const [topic, ofTopic] of Map.groupBy(outgoing, (one) => one.topic)) {
      const refusal = await trySend(ofTopic);
      if (refusal !== null) left.push(...(await sendByPartition({ topic, refusal }, ofTopic)));
    }
    return left;
  }

  async function sendByPartition(
    { topic, refusal }: { topic: string; refusal: Error },
    outgoing: readonly Outgoing[],
  ): Promise<Outgoing[]> {
    const metadata = await readPartitions(topic);
    if (metadata === null) {
      refused.add({ topic, partition: null }, refusal);
      return [...outgoing];
    }
    partitionsOf.set(topic, metadata);
    const left: Outgoing[] = [];
    for (const ofPartition of Map.groupBy(outgoing, (one) => placeOf(one).partition).values()) {
      const place = placeOf(ofPartition[0]!);
      // Where two partitions refuse, the topic does.
      const again = left.length > 0 ? refusal : await trySend(ofPartition);
      if (again === null) continue;
      refused.add(place, again);
      left.push(...ofPartition);
    }
    return left;
  }

  function placeOf({ topic, message }: Outgoing): Place {
    const partitionMetadata = partitionsOf.get(topic);
    const partition = partitionMetadata && partitioner({ topic, partitionMetadata, message });
    return { topic, partition: partition ?? null };
  }

  /** Null where the broker knows no such topic. */
  async function readPartitions(topic: string): Promise<PartitionMetadata[] | null> {
    const admin = kafka.admin({ retry: PUBLISH_RETRY });
    try {
      await admin.connect();
      const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
      return topics[0]?.partitions ?? null;
    } catch (error) {
      if (isRefusal(error)) return null;
      throw error;
    } finally {
      await admin.disconnect();
    }
  }

  /** Null where all of it is durable, else the refusal; a broker that is away is an error. */
  async function trySend(outgoing: readonly Outgoing[]): Promise<Error | null> {
    try {
      await send(outgoing);
      return null;
    } catch (error) {
      if (isRefusal(error)) return error;
      throw error;
    }
  }

  function warmUp(): void {
    connected ??= connect();
    connected.catch(() => void disconnect());
  }

  async function send(outgoing: readonly Outgoing[]): Promise<void> {
    connected ??= connect();
    try {
      const producer = await connected;
      for (const request of splitByBytes(outgoing)) {
        const topicMessages = [...Map.groupBy(request, ({ topic }) => topic)].map(
          ([topic, group]) => ({ topic, messages: group.map(({ message }) => message) }),
        );
        await producer.sendBatch({ acks: -1, topicMessages });
      }
    } catch (error) {
      // A producer that failed once may keep a broken sequence, socket or topic: the next try begins afresh.
      void disconnect();
      throw error;
    }
  }

  async function connect(): Promise<Producer> {
    const producer = kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
      metadataMaxAge: METADATA_MAX_AGE_MS,
      retry: PUBLISH_RETRY,
    });
    await producer.connect();
    return producer;
  }

  async function disconnect(): Promise<void> {
    const old = connected;
    connected = null;
    await old?.then((producer) => producer.disconnect()).catch(() => undefined);
  }
}

/** A broker that takes connections and answers nothing would hold the relay's transaction open. */
async function withinTimeLimit<T>(sending: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const expired = delay(PUBLISH_TIMEOUT_MS, 'expired' as const, { signal: timer.signal });
  const late = expired.then(() => {
    // Whatever becomes of it now, the next try publishes the same events again.
    sending.catch(() => undefined);
    throw new AppError('DEPENDENCY_UNAVAILABLE', { message: 'the broker did not answer in time' });
  });
  return await Promise.race([sending, late]).finally(() => {
    late.catch(() => undefined);
    timer.abort();
  });
}

/** Whether the broker answered, and what it said is about these topics or messages. */
function isRefusal(error: unknown): error is Error {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause.name === 'KafkaJSProtocolError') return true;
  }
  return false;
}

/** One that does not fit its schema holds back what follows under its key. */
async function encodeWhatFits(options: PublisherOptions, events: readonly EventToPublish[]) {
  const misfits = new Map<string, string>();
  const postponed = new Set<string>();
  const held = new Set<string>();
  const encoded = await Promise.all(
    events.map((event) => toOutgoing(options, event).catch((error: unknown) => toError(error))),
  );
  const outgoing = encoded.filter((one, index) => {
    const { eventId, topic, key } = events[index]!;
    const line = JSON.stringify([topic, key]);
    if (held.has(line)) postponed.add(eventId);
    else if (one instanceof Error) misfits.set(eventId, one.message);
    if (one instanceof Error) held.add(line);
    return !held.has(line);
  });
  return { outgoing: outgoing as Outgoing[], misfits, postponed };
}

function toError(error: unknown): Error {
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

async function toOutgoing(options: PublisherOptions, event: EventToPublish): Promise<Outgoing> {
  const topic = event.topic as Topic;
  const value = await options.codec.encode({ topic, type: event.type }, event.message);
  const trace = recordSpan(`send ${topic}`, {
    kind: 'producer',
    parent: event.traceparent,
    attributes: { 'messaging.system': 'kafka', 'messaging.destination.name': topic },
  });
  const headers = {
    ...event.headers,
    event_id: event.eventId,
    type: event.type,
    ...(trace === null ? {} : { traceparent: trace }),
  };
  return {
    eventId: event.eventId,
    topic: options.topicPrefix + topic,
    message: { key: event.key, value, headers },
  };
}
