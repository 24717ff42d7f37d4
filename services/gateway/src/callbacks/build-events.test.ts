import { AcquirerCallback } from '@pixmesh/contracts/messages/acquirer-callback.v1';
import { parseId } from '@pixmesh/kernel/ids';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { buildEvents, ITEM_BYTES_MAX } from './build-events.ts';

const CALLBACK = {
  callbackId: '019a0000-0000-7000-8000-000000000001',
  receivedAt: new Date('2026-11-21T12:00:00.000Z'),
};

test('an item becomes one event that carries it as received, with its kind in a header', () => {
  const item = { endToEndId: 'E1', txid: 'T1', valor: '10.00', infoPagador: 'olá' };
  const { events, skipped } = buildEvents([item], CALLBACK);
  expect(skipped).toBe(0);
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({
    topic: 'acquirer.callbacks.v1',
    key: 'T1',
    headers: { kind: 'received' },
    sequence: null,
    message: {
      type: 'acquirer.callback',
      occurred_at: '2026-11-21T12:00:00.000Z',
      account_id: null,
      data: { kind: 'received', item },
    },
  });
});

test.each([
  {
    name: 'too large to publish',
    item: { endToEndId: 'E1', infoPagador: 'x'.repeat(ITEM_BYTES_MAX) },
  },
  { name: 'a number that JSON cannot carry on', item: { endToEndId: 'E1', valor: Infinity } },
])('an item that is $name is skipped, and does not block the others', ({ item }) => {
  const { events, skipped } = buildEvents([item, { endToEndId: 'E2' }], CALLBACK);
  expect(skipped).toBe(1);
  expect(events.map((event) => event.key)).toEqual(['E2']);
});

test('whatever an item holds, its event fits the schema and its key can be stored', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 2 })),
      (item) => {
        for (const event of buildEvents([item], CALLBACK).events) {
          const message: unknown = JSON.parse(JSON.stringify(event.message));
          expect(AcquirerCallback.schema.safeParse(message).success).toBe(true);
          expect(/^[0-9A-Za-z]{1,64}$/.test(event.key) || parseId(event.key) !== null).toBe(true);
        }
      },
    ),
  );
});
