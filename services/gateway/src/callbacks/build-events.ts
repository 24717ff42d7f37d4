import { AcquirerCallback } from '@pixmesh/contracts/messages/acquirer-callback.v1';
import { newId } from '@pixmesh/kernel/ids';
import { type OutboundEvent, outboundEvent } from '@pixmesh/postgres/events';
import { z } from 'zod';

import { type CallbackItem, classifyItem, keyOfItem } from './classify-item.ts';

/**
 * Largest item that is published. Real ones have about 1 KB; the broker's limit for a batch of messages is
 * 1 MiB, and one message above it would stop the relay for good.
 */
export const ITEM_BYTES_MAX = 16 * 1024;

type ReceivedCallback = { callbackId: string; receivedAt: Date };

/**
 * One event per item, validated by the message's own schema before anything is stored, so that the relay can
 * always publish what it finds. An item that does not fit is left to the stored body. `published` are those that do.
 */
export function buildEvents(
  items: readonly CallbackItem[],
  callback: ReceivedCallback,
): { events: OutboundEvent[]; published: CallbackItem[]; skipped: number } {
  const events: OutboundEvent[] = [];
  const published: CallbackItem[] = [];
  for (const item of items) {
    const event = buildEvent(item, callback);
    if (event === null) continue;
    events.push(event);
    published.push(item);
  }
  return { events, published, skipped: items.length - published.length };
}

function buildEvent(item: CallbackItem, callback: ReceivedCallback): OutboundEvent | null {
  if (Buffer.byteLength(JSON.stringify(item)) > ITEM_BYTES_MAX) return null;
  const kind = classifyItem(item);
  const key = keyOfItem(item, kind, callback.callbackId);
  try {
    return outboundEvent(
      AcquirerCallback,
      { key, sequence: null, headers: { kind } },
      {
        event_id: newId(),
        type: 'acquirer.callback',
        version: 1,
        occurred_at: callback.receivedAt.toISOString(),
        account_id: null,
        application_id: null,
        data: { kind, item: item as Record<string, z.core.util.JSONType> },
      },
    );
  } catch (error) {
    if (error instanceof z.core.$ZodError) return null;
    throw error;
  }
}
