import { AppError } from '@pixmesh/kernel/app-error';
import type { RawMessage } from '@pixmesh/postgres/dead-letters';
import { type Logger, messageOf } from '@pixmesh/telemetry/logger';
import { counter } from '@pixmesh/telemetry/metrics';
import { toMessageHeaders } from '@pixmesh/telemetry/tracing';

import type { MessageCodec } from './message-codec.ts';
import type { EventToPublish } from './outgoing-message.ts';
import { TOPIC_LABELS } from './topic-labels.ts';

/** A message on its way to `dead_letters`. */
export type Letter = RawMessage & { code: string; reason: string };

/** Of a letter whose message stands at no place of a topic that is known. */
const NO_PLACE = { partition: -1, offset: -1n };

const parked = counter(
  'kafka_messages_parked_total',
  'Messages written to dead_letters',
  TOPIC_LABELS,
);

export function letterOf(message: RawMessage, error: unknown): Letter {
  const code = error instanceof AppError ? error.code : 'INTERNAL_ERROR';
  const reason = error instanceof Error ? messageOf(error) : 'unknown';
  return { ...message, code, reason };
}

/** The message of an event as a consumer would have it: what is encoded is what was published. */
export async function toRawMessage(
  codec: Pick<MessageCodec, 'encode'>,
  event: EventToPublish,
): Promise<RawMessage> {
  const { eventId, type, key, message, headers, traceparent } = event;
  const topic = event.topic as Parameters<MessageCodec['encode']>[0]['topic'];
  return {
    topic,
    ...NO_PLACE,
    key,
    headers: { ...headers, event_id: eventId, type, ...toMessageHeaders(traceparent) },
    value: await codec.encode({ topic, type }, message),
  };
}

/** To be called once it is stored. */
export function reportParked(logger: Logger, message: RawMessage, error: unknown): void {
  parked.add(1, { topic: message.topic });
  logger.error({ err: error, ...describeMessage(message) }, 'message parked in dead_letters');
}

export function describeMessage({ topic, headers }: RawMessage): object {
  return { topic, type: headers['type'], event_id: headers['event_id'] };
}
