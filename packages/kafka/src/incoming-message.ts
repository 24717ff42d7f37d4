import type { IHeaders, KafkaMessage } from 'kafkajs';

/** A message as it came from the broker, enough to handle it now or again. */
export type IncomingMessage = {
  topic: string;
  partition: number;
  offset: bigint;
  key: string | null;
  headers: Record<string, string>;
  value: Buffer | null;
};

export function toIncoming(
  topicPrefix: string,
  batch: { topic: string; partition: number },
  message: KafkaMessage,
): IncomingMessage {
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
    const last = Array.isArray(value) ? value.at(-1) : value;
    if (last !== undefined) texts[name] = last.toString();
  }
  return texts;
}
