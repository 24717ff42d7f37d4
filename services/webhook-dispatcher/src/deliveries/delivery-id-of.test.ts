import { newId, parseId } from '@pixmesh/kernel/ids';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { deliveryIdOf } from './delivery-id-of.ts';

const uuids = fc.uuid();
const eventIds = fc.uuid({ version: 7 });

test('the id of a pair is the same in every process and version of this program', () => {
  const eventId = '019ab3f2-6c10-7c2e-9d5b-0a1b2c3d4e5f';
  const destinationId = '5b1c0f6e-3f0a-5c57-9f7c-2f6a4a0f9d11';
  expect(deliveryIdOf(eventId, destinationId)).toBe('019ab3f2-6c10-7746-a21c-8c805ed58642');
  expect(deliveryIdOf(eventId.toUpperCase(), destinationId.toUpperCase())).toBe(
    deliveryIdOf(eventId, destinationId),
  );
});

test('an id is a UUIDv7 with the time of its event', () => {
  fc.assert(
    fc.property(eventIds, uuids, (eventId, destinationId) => {
      const id = deliveryIdOf(eventId, destinationId);
      expect(parseId(id)).toBe(id);
      expect(id).toMatch(/^.{8}-.{4}-7.{3}-[89ab].{3}-.{12}$/);
      expect(id.slice(0, 13)).toBe(eventId.slice(0, 13));
    }),
  );
});

test('no two pairs share an id', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(eventIds, { minLength: 1, maxLength: 8 }),
      fc.uniqueArray(uuids, { minLength: 1, maxLength: 8 }),
      (events, destinations) => {
        const ids = events.flatMap((event) => destinations.map((to) => deliveryIdOf(event, to)));
        expect(new Set(ids).size).toBe(ids.length);
      },
    ),
  );
});

test('thousands of deliveries of events of one millisecond have ids of their own', () => {
  const eventId = newId();
  const ids = new Set(Array.from({ length: 20_000 }, () => deliveryIdOf(eventId, newId())));
  expect(ids.size).toBe(20_000);
});
