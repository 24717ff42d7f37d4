import type { z } from 'zod';

import type { Topic } from '../topics.ts';

/** One message type: its topic, its name and the schema that is its single source. */
export type MessageType<Schema extends z.ZodType = z.ZodType> = {
  readonly topic: Topic;
  readonly type: string;
  readonly schema: Schema;
};

export function defineMessage<Schema extends z.ZodType>(
  message: MessageType<Schema>,
): MessageType<Schema> {
  return message;
}

/** The registry's subject of a message type. */
export function subjectOf(message: Pick<MessageType, 'topic' | 'type'>): string {
  return `${message.topic}-${message.type}`;
}
