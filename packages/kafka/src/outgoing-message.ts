import type { Topic } from '@pixmesh/contracts/topics';
import type { PublishableEvent } from '@pixmesh/postgres/outbox-relay';
import { RESEND_HEADER } from '@pixmesh/postgres/events';
import { recordSpan, toMessageHeaders } from '@pixmesh/telemetry/tracing';
import type { Message } from 'kafkajs';

import type { MessageCodec } from './message-codec.ts';

export type EventToPublish = Omit<PublishableEvent, 'sequence'>;

/** An event in its encoded form; `topic` is the broker's name of it. */
export type Outgoing = { eventId: string; topic: string; message: Message & { value: Buffer } };

/** @throws when the event does not fit its schema */
export async function toOutgoing(
  options: { codec: MessageCodec; topicPrefix: string },
  event: EventToPublish,
): Promise<Outgoing> {
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
    ...(event.isResend === true ? { [RESEND_HEADER]: '1' } : {}),
    ...toMessageHeaders(trace),
  };
  return {
    eventId: event.eventId,
    topic: options.topicPrefix + topic,
    message: { key: event.key, value, headers },
  };
}
