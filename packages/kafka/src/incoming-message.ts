import type { RawMessage } from '@pixmesh/postgres/dead-letters';
import type { IHeaders, KafkaMessage } from 'kafkajs';

export function toIncoming(
  topicPrefix: string,
  batch: { topic: string; partition: number },
  message: KafkaMessage,
): RawMessage {
  return {
    topic: batch.topic.slice(topicPrefix.length),
    partition: batch.partition,
    offset: BigInt(message.offset),
    key: message.key?.toString() ?? null,
    headers: toTextHeaders(message.headers ?? {}),
    value: message.value,
  };
}

/** Headers as text; a repeated header keeps its last value. */
export function toTextHeaders(headers: IHeaders): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const text = textOf(value);
    if (text !== undefined) texts[name] = text;
  }
  return texts;
}

/** The type that a message's headers name. */
export function typeOf({ headers }: Pick<KafkaMessage, 'headers'>): string | undefined {
  return textOf(headers?.['type']);
}

function textOf(value: IHeaders[string]): string | undefined {
  const last = Array.isArray(value) ? value.at(-1) : value;
  return last?.toString();
}
