import { type TraceParent, recordSpan } from '@pixmesh/telemetry/tracing';
import type { Topic } from '@pixmesh/contracts/topics';
import { type Message, Partitioners, type Producer } from 'kafkajs';

import { createKafka, type KafkaOptions } from './kafka-client.ts';
import type { MessageCodec } from './schema-registry.ts';

/** Bounds one publication well below the relay's transaction limit; the relay itself tries for ever. */
const PUBLISH_RETRY = { initialRetryTime: 100, maxRetryTime: 500, retries: 1 };
const METADATA_MAX_AGE_MS = 30_000;

export type EventToPublish = {
  eventId: string;
  topic: string;
  key: string;
  type: string;
  headers?: Readonly<Record<string, string>>;
  message: object;
  traceparent: TraceParent;
};

export type EventPublisher = AsyncDisposable & {
  /** Resolves when every event is durable at the broker; a failure may still have written some of them. */
  publish(events: readonly EventToPublish[]): Promise<void>;
};

type PublisherOptions = KafkaOptions & { codec: MessageCodec; topicPrefix: string };

/** The producer behind the outbox relay: the only one of a service. */
export function createEventPublisher(options: PublisherOptions): EventPublisher {
  const kafka = createKafka(options);
  let connected: Promise<Producer> | null = null;
  return { publish, [Symbol.asyncDispose]: disconnect };

  async function publish(events: readonly EventToPublish[]): Promise<void> {
    connected ??= connect();
    try {
      const producer = await connected;
      await producer.sendBatch({ acks: -1, topicMessages: await toTopicMessages(options, events) });
    } catch (error) {
      // A producer that failed once may keep a broken sequence or socket: the next try begins afresh.
      await disconnect();
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

async function toTopicMessages(
  options: PublisherOptions,
  events: readonly EventToPublish[],
): Promise<{ topic: string; messages: Message[] }[]> {
  const byTopic = Map.groupBy(events, (event) => event.topic as Topic);
  return await Promise.all(
    [...byTopic].map(async ([topic, group]) => ({
      topic: options.topicPrefix + topic,
      messages: await Promise.all(group.map((event) => toMessage(options.codec, topic, event))),
    })),
  );
}

async function toMessage(
  codec: MessageCodec,
  topic: Topic,
  event: EventToPublish,
): Promise<Message> {
  const trace = recordSpan(`send ${topic}`, {
    kind: 'producer',
    parent: event.traceparent,
    attributes: { 'messaging.system': 'kafka', 'messaging.destination.name': topic },
  });
  return {
    key: event.key,
    value: await codec.encode({ topic, type: event.type }, event.message),
    headers: {
      ...event.headers,
      event_id: event.eventId,
      type: event.type,
      ...(trace === null ? {} : { traceparent: trace }),
    },
  };
}
