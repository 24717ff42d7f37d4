import { toCents } from '@pixmesh/kernel/money';
import { expect, test } from 'vitest';

import type { ChargeOrder } from './check-charge-body.ts';
import { fingerprintOf } from './fingerprint.ts';

const order: ChargeOrder = {
  amount: toCents(1_000),
  description: null,
  reference: 'a',
  customer: { name: 'Ana', email: 'ana@example.com', document: '52998224725', phone: null },
  expiresIn: null,
  webhookUrl: 'https://loja.com.br/',
  webhookSecret: 'secret',
};

test('a spelled-out default means the same as its absence', () => {
  const spelled = fingerprintOf({ ...order, expiresIn: 86_400 }, 86_400);
  expect(fingerprintOf(order, 86_400).equals(spelled)).toBe(true);
});

test.each([
  ['amount', { amount: toCents(1_001) }],
  ['description', { description: 'x' }],
  ['reference', { reference: null }],
  ['customer', { customer: { ...order.customer, name: 'Bia' } }],
  ['phone', { customer: { ...order.customer, phone: '1' } }],
  ['expiry', { expiresIn: 60 }],
  ['URL', { webhookUrl: 'https://loja.com.br/x' }],
  ['secret', { webhookSecret: 'other' }],
])('another %s is another body', (_name, change) => {
  const other = fingerprintOf({ ...order, ...change }, 86_400);
  expect(fingerprintOf(order, 86_400).equals(other)).toBe(false);
});
