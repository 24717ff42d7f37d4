import { ReceivedPixCredited } from '@pixmesh/contracts/messages/ledger-event.v1';
import { MESSAGE_SAMPLES } from '@pixmesh/contracts/test/message-samples';
import { newId } from '@pixmesh/kernel/ids';
import { z } from 'zod';

export const TEST_MESSAGE = ReceivedPixCredited;

/** A message in wire form whose `end_to_end_id` says which one it is. */
export function aWireMessage(number: number): { event_id: string; data: object } {
  const { schema, type } = TEST_MESSAGE;
  const sample = schema.parse(z.encode(schema, MESSAGE_SAMPLES[type] as never));
  const data = { ...sample.data, end_to_end_id: String(number) };
  return z.encode(schema, { ...sample, event_id: newId(), data });
}
