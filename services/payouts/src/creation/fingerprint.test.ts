import { toCents } from '@pixmesh/kernel/money';
import { expect, test } from 'vitest';

import type { PayoutOrder } from './check-payout-body.ts';
import { fingerprintOf } from './fingerprint.ts';

const order: PayoutOrder = {
  amount: toCents(1_000),
  pixKeyType: 'phone',
  pixKey: '+5511987654321',
  pixKeyCanonical: '+5511987654321',
  recipientName: 'Ana',
  recipientDocument: '52998224725',
  description: null,
  reference: 'a',
  webhookUrl: 'https://loja.com.br/',
  webhookSecret: 'secret',
};

test('the way a key is written does not count', () => {
  const masked = fingerprintOf({ ...order, pixKey: '(11) 98765-4321' });
  expect(fingerprintOf(order).equals(masked)).toBe(true);
});

test.each<[string, Partial<PayoutOrder>]>([
  ['amount', { amount: toCents(1_001) }],
  ['type of key', { pixKeyType: 'cpf' }],
  ['key', { pixKeyCanonical: '+5511987654322' }],
  ['name', { recipientName: null }],
  ['document', { recipientDocument: null }],
  ['description', { description: 'x' }],
  ['reference', { reference: null }],
  ['URL', { webhookUrl: 'https://loja.com.br/x' }],
  ['secret', { webhookSecret: 'other' }],
  ['place of a text', { description: 'a', reference: null }],
])('another %s is another body', (_name, change) => {
  expect(fingerprintOf(order).equals(fingerprintOf({ ...order, ...change }))).toBe(false);
});
