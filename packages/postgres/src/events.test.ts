import { ReceivedPixCredited } from '@pixmesh/contracts/messages/ledger-event.v1';
import { MESSAGE_SAMPLES } from '@pixmesh/contracts/test/message-samples';
import { expect, test } from 'vitest';
import type { z } from 'zod';

import { outboundEvent } from './events.ts';

const place = { key: 'account-1', sequence: null };
const credit = MESSAGE_SAMPLES[ReceivedPixCredited.type] as z.output<
  typeof ReceivedPixCredited.schema
>;

test('an event that does not fit its schema is refused before anything is stored', () => {
  expect(outboundEvent(ReceivedPixCredited, place, credit)).toMatchObject({ ...place });
  const value = { ...credit, data: { ...credit.data, amount: 0n } };
  expect(() => outboundEvent(ReceivedPixCredited, place, value as never)).toThrow('too_small');
});
