import { setTimeout as delay } from 'node:timers/promises';

import type { Topic } from '@pixmesh/contracts/topics';
import { AppError } from '@pixmesh/kernel/app-error';
import type { PublishableEvent } from '@pixmesh/postgres/outbox-relay';
import { recordSpan } from '@pixmesh/telemetry/tracing';
import { type Message, Partitioners, type Producer } from 'kafkajs';

import { createKafka, type KafkaOptions } from './kafka-client.ts';
import type { MessageCodec } from './schema-registry.ts';

/** The relay tries for ever; one publication does not. */
const PUBLISH_RETRY = { initialRetryTime: 100, maxRetryTime: 500, retries: 1 };
/** Ends before the database ends the relay's transaction, which sits idle meanwhile (15 s). */
const PUBLISH_TIMEOUT_MS = 10_000;
const METADATA_MAX_AGE_MS = 30_000;
/** Bytes of values per request: a broker refuses batches above 1 MiB, and one key may fill a whole claim. */
const REQUEST_BYTES_MAX = 512 * 1024;

export type EventToPublish = Omit<PublishableEvent, 'sequence'>;

export type EventPublisher = AsyncDisposable & {
  /** Resolves when every event is durable at the broker; a failure may still have written some of them. */
  publish(events: readonly EventToPublish[]): Promise<void>;
  /** Connects ahead of the first event; a broker that is away is met again at that event. */
  warmUp(): void;
};

type PublisherOptions = KafkaOptions & { codec: MessageCodec; topicPrefix: string };
type Outgoing = { topic: string; message: Message & { value: Buffer } };

/** The producer behind the outbox relay: the only one of a service. */
export function createEventPublisher(options: PublisherOptions): EventPublisher {
  const kafka = createKafka(options);
  let connected: Promise<Producer> | null = null;
  return { publish, warmUp, [Symbol.asyncDispose]: disconnect };

  async function publish(events: readonly EventToPublish[]): Promise<void> {
    const outgoing = await Promise.all(events.map((event) => toOutgoing(options, event)));
    try {
      await withinTimeLimit(send(outgoing));
    } catch (error) {
      // A producer that failed once may keep a broken sequence or socket: the next try begins afresh.
      void disconnect();
      throw error;
    }
  }

  function warmUp(): void {
    connected ??= connect();
    connected.catch(() => void disconnect());
  }

  async function send(outgoing: readonly Outgoing[]): Promise<void> {
    connected ??= connect();
    const producer = await connected;
    for (const request of splitByBytes(outgoing)) {
      const topicMessages = [...Map.groupBy(request, ({ topic }) => topic)].map(
        ([topic, group]) => ({ topic, messages: group.map(({ message }) => message) }),
      );
      await producer.sendBatch({ acks: -1, topicMessages });
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
async function withinTimeLimit(sending: Promise<void>): Promise<void> {
  const timer = new AbortController();
  const expired = delay(PUBLISH_TIMEOUT_MS, 'expired' as const, { signal: timer.signal });
  const outcome = await Promise.race([sending, expired.catch(() => undefined)]).finally(() =>
    timer.abort(),
  );
  if (outcome === 'expired') {
    // Whatever becomes of it now, the next try publishes the same events again.
    sending.catch(() => undefined);
    throw new AppError('DEPENDENCY_UNAVAILABLE', { message: 'the broker did not answer in time' });
  }
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
  return { topic: options.topicPrefix + topic, message: { key: event.key, value, headers } };
}
