import { newId } from '@pixmesh/kernel/ids';
import { expect, test } from 'vitest';

import { laneOf } from './lane-of.ts';

const ACCOUNT = newId();

test.each([
  ['http://shop.example.org/a', 'http://shop.example.org/b?c=d'],
  ['http://shop.example.org/', 'http://SHOP.example.org:80/'],
  ['https://shop.example.org/', 'https://shop.example.org:443/x'],
])('%s and %s share a lane', (one, other) => {
  expect(laneOf(ACCOUNT, one)).toBe(laneOf(ACCOUNT, other));
});

test.each([
  ['http://shop.example.org/', 'https://shop.example.org/'],
  ['http://shop.example.org/', 'http://shop.example.org:8080/'],
  ['http://a.example.org/', 'http://b.example.org/'],
  ['not a url', 'not another'],
])('%s and %s do not', (one, other) => {
  expect(laneOf(ACCOUNT, one)).not.toBe(laneOf(ACCOUNT, other));
});

test('two accounts never share a lane', () => {
  expect(laneOf(ACCOUNT, 'http://a.example.org/')).not.toBe(
    laneOf(newId(), 'http://a.example.org/'),
  );
});
