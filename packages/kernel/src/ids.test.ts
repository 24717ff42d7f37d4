import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import {
  deriveCommandId,
  deriveResourceId,
  fromAcquirerId,
  newId,
  parseId,
  readPathId,
  timeOfId,
  toAcquirerId,
  uuidV5,
} from './ids.ts';

test('version 5 is the one of RFC 9562', () => {
  // RFC 9562, appendix A.4: the DNS namespace and www.example.com.
  const namespace = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
  expect(uuidV5(namespace, 'www.example.com')).toBe('2ed6657d-e927-568b-95e1-2665a8aea6a2');
});

test('one key is one id per application and per resource, for ever', () => {
  const application = '0b9f2c1e-8a57-4f0e-9a35-6d2f9c4b7a10';
  const charge = deriveResourceId(application, 'charge', 'order-0001');
  // Fixed for ever: computed once by another implementation.
  expect(charge).toBe('fe83870f-5fd2-53c6-8d3e-98ed92207d7c');
  expect(deriveResourceId(application, 'charge', 'order-0001')).toBe(charge);
  expect(deriveResourceId(application, 'payout', 'order-0001')).not.toBe(charge);
  expect(deriveResourceId(application, 'charge', 'Order-0001')).not.toBe(charge);
  expect(deriveResourceId(newId(), 'charge', 'order-0001')).not.toBe(charge);
});

test('the id of a ledger command depends on kind and business key only', () => {
  expect(deriveCommandId('received_pix', 'E1')).toBe(deriveCommandId('received_pix', 'E1'));
  expect(deriveCommandId('received_pix', 'E1')).not.toBe(deriveCommandId('received_pix', 'E2'));
});

test('an id survives the way to the acquirer and back', () => {
  fc.assert(
    fc.property(fc.uuid(), (id) => {
      expect(toAcquirerId(id)).toMatch(/^[0-9a-f]{32}$/);
      expect(fromAcquirerId(toAcquirerId(id))).toBe(id);
    }),
  );
});

test('what cannot be one of our ids is none', () => {
  for (const text of ['', 'x', '0'.repeat(31), '0'.repeat(33), 'g'.repeat(32), 'A'.repeat(32)]) {
    expect(fromAcquirerId(text)).toBeNull();
  }
  for (const text of [
    '',
    'not-a-uuid',
    '0b9f2c1e8a574f0e9a356d2f9c4b7a10',
    ` ${newId()}`,
    `${newId()}\n`,
  ]) {
    expect(parseId(text)).toBeNull();
  }
});

test('an id in upper case is the same id', () => {
  const id = newId();
  expect(parseId(id.toUpperCase())).toBe(id);
});

test('a new id begins with the milliseconds of its making', () => {
  expect(Math.abs(timeOfId(newId()).getTime() - Date.now())).toBeLessThan(1_000);
  expect(timeOfId('01977420-dc00-7000-8000-000000000000').toISOString()).toBe(
    new Date(0x01977420dc00).toISOString(),
  );
});

test('a path that holds no id names what nobody has', () => {
  const id = newId();
  expect(readPathId(id.toUpperCase())).toBe(id);
  for (const text of ['', 'x', `${id}0`, '..']) {
    expect(readPathId(text)).toBe('00000000-0000-0000-0000-000000000000');
  }
});

test('new ids are in the order of their making, also within a millisecond, and none comes twice', () => {
  const ids = Array.from({ length: 2_000 }, () => newId());
  expect(ids.toSorted()).toEqual(ids);
  const randomParts = new Set(ids.map((id) => id.slice(19)));
  expect(randomParts.size).toBe(ids.length);
  expect(ids.filter((id) => parseId(id) === id)).toHaveLength(ids.length);
});
