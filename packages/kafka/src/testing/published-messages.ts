import { ApplicationChanged } from '@pixmesh/contracts/messages/account-event.v1';
import { AcquirerCallback } from '@pixmesh/contracts/messages/acquirer-callback.v1';
import { ReceivedPixCredited } from '@pixmesh/contracts/messages/ledger-event.v1';
import { MESSAGE_SAMPLES } from '@pixmesh/contracts/test/message-samples';
import { newId } from '@pixmesh/kernel/ids';
import type { OutboundEvent } from '@pixmesh/postgres/events';
import { z } from 'zod';

/** Messages of three topics. */
export const PUBLISHED_MESSAGES = {
  callback: AcquirerCallback,
  application: ApplicationChanged,
  credit: ReceivedPixCredited,
} as const;

export type Published = keyof typeof PUBLISHED_MESSAGES;

/** An event as its service stores it; a header says which one it is. */
export function aStoredEvent(published: Published, key: string, number: number): OutboundEvent {
  const { schema, topic, type } = PUBLISHED_MESSAGES[published];
  const message = z.encode(schema, MESSAGE_SAMPLES[type] as never);
  const eventId = newId();
  return {
    eventId,
    topic,
    key,
    type,
    sequence: null,
    headers: { number: String(number) },
    message: { ...message, event_id: eventId },
  };
}
