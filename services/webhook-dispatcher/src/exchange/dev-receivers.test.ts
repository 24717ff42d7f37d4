import { describe, expect, test } from 'vitest';

import { findDevReceiver, parseDevReceivers } from './dev-receivers.ts';

const LOCAL = { address: '127.0.0.1', port: 40_123 };

describe('the map of development receivers', () => {
  const map = parseDevReceivers(
    '*.receiver.example.com=127.0.0.1:40123, exact.example.org=[::1]:81',
  )!;

  test.each([
    'shop.receiver.example.com',
    'a.b.receiver.example.com',
    'shop.receiver.example.com.',
  ])('covers %s by its suffix', (name) => {
    expect(findDevReceiver(map, name)).toEqual(LOCAL);
  });

  test('covers an exact name, also at an IPv6 address', () => {
    expect(findDevReceiver(map, 'exact.example.org')).toEqual({ address: '::1', port: 81 });
  });

  test.each([
    'receiver.example.com',
    '.receiver.example.com',
    'xreceiver.example.com',
    'shop.receiver.example.com.evil.example.net',
    'sub.exact.example.org',
    '127.0.0.1',
  ])('does not cover %s', (name) => {
    expect(findDevReceiver(map, name)).toBeNull();
  });

  test('is empty where nothing is configured', () => {
    expect(parseDevReceivers('')).toEqual([]);
  });

  test.each([
    'x',
    'a.b=',
    'a.b=127.0.0.1',
    'a.b=127.0.0.1:0',
    'a.b=127.0.0.1:70000',
    '*=127.0.0.1:1',
    'a.b=1:2,',
  ])('is refused as %s', (text) => {
    expect(parseDevReceivers(text)).toBeNull();
  });
});
