import { expect, test } from 'vitest';

import { CreateChargeBody } from './create-charge-body.ts';

const BODY = {
  amount: 100,
  customer: { name: ' Ana ', email: 'ana@example.com', document: '529.982.247-25' },
};

test('the smallest body gets its defaults, and unknown fields are dropped', () => {
  const body = { ...BODY, status: 'paid', customer: { ...BODY.customer, role: 'admin' } };
  expect(CreateChargeBody.parse(body)).toEqual({
    amount: 100,
    method: 'pix',
    customer: {
      name: 'Ana',
      email: 'ana@example.com',
      document: '529.982.247-25',
      phone: null,
    },
    description: null,
    reference: null,
    expires_in: null,
    webhook_url: null,
    webhook_secret: null,
  });
});

test.each([
  ['amount', { amount: '100' }],
  ['amount', { amount: 100.5 }],
  ['amount', { amount: 1_000_000_000_000 }],
  ['customer', { customer: null }],
  ['customer.name', { customer: { ...BODY.customer, name: '  ' } }],
  ['customer.name', { customer: { ...BODY.customer, name: 'Ana\n' } }],
  ['customer.name', { customer: { ...BODY.customer, name: '\tAna' } }],
  ['customer.email', { customer: { ...BODY.customer, email: 'ana' } }],
  ['customer.document', { customer: { ...BODY.customer, document: '529.982.247-25\uD800' } }],
  ['description', { description: 'x'.repeat(141) }],
  ['description', { description: 'line\nfeed' }],
  ['reference', { reference: '\uD800' }],
  ['expires_in', { expires_in: 59 }],
  ['expires_in', { expires_in: 604_801 }],
  ['webhook_secret', { webhook_secret: '' }],
  ['webhook_url', { webhook_url: `https://shop.example/${'x'.repeat(2048)}` }],
])('a fault of shape in %s is named', (path, change) => {
  const result = CreateChargeBody.safeParse({ ...BODY, ...change });
  expect(result.error?.issues.map((issue) => issue.path.join('.'))).toEqual([path]);
});

test('lengths count code points: 140 emoji are a description', () => {
  const body = { ...BODY, description: '😀'.repeat(140) };
  expect(CreateChargeBody.safeParse(body).success).toBe(true);
});
