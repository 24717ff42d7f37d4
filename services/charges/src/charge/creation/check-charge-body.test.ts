import { readJsonObject } from '@pixmesh/http/json-request';
import { AppError } from '@pixmesh/kernel/app-error';
import { describe, expect, test } from 'vitest';

import { checkChargeBody } from './check-charge-body.ts';

const valid = {
  amount: 1_000,
  customer: { name: 'Ana Souza', email: 'ana@example.com', document: '529.982.247-25' },
};

function check(body: unknown, contentType: string | undefined = 'application/json') {
  const bytes = body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
  try {
    return checkChargeBody(readJsonObject(bytes, contentType));
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, details: error.details };
    throw error;
  }
}

function withCustomer(changes: object) {
  return { ...valid, customer: { ...valid.customer, ...changes } };
}

test('a full body is taken in its normal form', () => {
  const order = check({
    ...withCustomer({ name: '  Ana Souza ', phone: '+5511999990000' }),
    method: 'pix',
    description: 'Pedido 1',
    reference: 'pedido-1',
    expires_in: 60,
    webhook_url: 'https://loja.com.br/hook',
    webhook_secret: 's',
    unknown: { nested: true },
  });
  expect(order).toEqual({
    amount: 1_000n,
    description: 'Pedido 1',
    reference: 'pedido-1',
    customer: {
      name: 'Ana Souza',
      email: 'ana@example.com',
      document: '52998224725',
      phone: '+5511999990000',
    },
    expiresIn: 60,
    webhookUrl: 'https://loja.com.br/hook',
    webhookSecret: 's',
  });
});

test('null and empty text are the same as absent', () => {
  const order = check({
    ...valid,
    method: null,
    description: '',
    reference: null,
    expires_in: null,
    webhook_url: null,
    webhook_secret: null,
  });
  expect(order).toMatchObject({
    description: null,
    reference: null,
    expiresIn: null,
    webhookUrl: null,
  });
});

test('a secret without a URL is validated, then dropped', () => {
  expect(check({ ...valid, webhook_secret: 'kept nowhere' })).toMatchObject({
    webhookSecret: null,
  });
  expect(check({ ...valid, webhook_secret: '' })).toEqual({
    code: 'VALIDATION_ERROR',
    details: ['webhook_secret'],
  });
});

describe('shape faults are VALIDATION_ERROR with their exact paths', () => {
  test.each([
    ['no body', Buffer.alloc(0), ['body']],
    ['an array', Buffer.from('[]'), ['body']],
    ['broken JSON', Buffer.from('{'), ['body']],
    ['seventeen levels', Buffer.from('{"a":'.repeat(17) + '1' + '}'.repeat(17)), ['body']],
    ['nothing at all', {}, ['amount', 'customer']],
    ['customer null', { ...valid, customer: null }, ['customer']],
    ['customer text', { ...valid, customer: 'Ana' }, ['customer']],
    [
      'an empty customer',
      { ...valid, customer: {} },
      ['customer.name', 'customer.email', 'customer.document'],
    ],
    ['amount as text', { ...valid, amount: '1000' }, ['amount']],
    ['amount with cents', { ...valid, amount: 10.5 }, ['amount']],
    ['amount too large', { ...valid, amount: 1_000_000_000_000 }, ['amount']],
    ['a control in the method', { ...valid, method: 'pix\u0000' }, ['method']],
    ['method as number', { ...valid, method: 1 }, ['method']],
    ['name of spaces', withCustomer({ name: '   ' }), ['customer.name']],
    ['name of 201', withCustomer({ name: 'x'.repeat(201) }), ['customer.name']],
    ['e-mail without @', withCustomer({ email: 'ana.example.com' }), ['customer.email']],
    ['document as number', withCustomer({ document: 52998224725 }), ['customer.document']],
    ['phone of 33', withCustomer({ phone: '1'.repeat(33) }), ['customer.phone']],
    ['description of 141', { ...valid, description: 'x'.repeat(141) }, ['description']],
    ['NUL in the description', { ...valid, description: 'a\u0000b' }, ['description']],
    ['a line feed in the reference', { ...valid, reference: 'a\nb' }, ['reference']],
    ['a lone surrogate', { ...valid, reference: '\ud800' }, ['reference']],
    ['reference of 256', { ...valid, reference: 'x'.repeat(256) }, ['reference']],
    ['expires_in 59', { ...valid, expires_in: 59 }, ['expires_in']],
    ['expires_in 604801', { ...valid, expires_in: 604_801 }, ['expires_in']],
    ['expires_in as text', { ...valid, expires_in: '60' }, ['expires_in']],
    [
      'webhook_url of 2049',
      { ...valid, webhook_url: `https://a.com/${'x'.repeat(2035)}` },
      ['webhook_url'],
    ],
    ['webhook_url as number', { ...valid, webhook_url: 1 }, ['webhook_url']],
    ['webhook_secret of 256', { ...valid, webhook_secret: 'x'.repeat(256) }, ['webhook_secret']],
    [
      'several faults',
      { amount: true, customer: 1, expires_in: 1 },
      ['amount', 'customer', 'expires_in'],
    ],
  ])('%s', (_name, body, details) => {
    expect(check(body)).toEqual({ code: 'VALIDATION_ERROR', details });
  });

  test('another media type', () => {
    expect(check(valid, 'text/plain')).toEqual({
      code: 'VALIDATION_ERROR',
      details: ['content-type'],
    });
    expect(check(valid, 'application/json; charset=utf-8')).toMatchObject({ amount: 1_000n });
  });

  test('140 emoji are 140 characters', () => {
    expect(check({ ...valid, description: '😀'.repeat(140) })).toMatchObject({ amount: 1_000n });
  });
});

describe('business rules have their own code, in a fixed order, after the shape', () => {
  test.each([
    ['another method', { ...valid, method: 'boleto' }, 'METHOD_NOT_SUPPORTED', []],
    ['99 cents', { ...valid, amount: 99 }, 'AMOUNT_BELOW_MINIMUM', []],
    ['a negative amount', { ...valid, amount: -100 }, 'AMOUNT_BELOW_MINIMUM', []],
    [
      'wrong check digits',
      withCustomer({ document: '52998224724' }),
      'INVALID_DOCUMENT',
      ['customer.document'],
    ],
    [
      'an empty document',
      withCustomer({ document: '' }),
      'INVALID_DOCUMENT',
      ['customer.document'],
    ],
    [
      'a control in a document',
      withCustomer({ document: '52998224725\n' }),
      'INVALID_DOCUMENT',
      ['customer.document'],
    ],
    [
      'a local URL',
      { ...valid, webhook_url: 'http://localhost/' },
      'INVALID_WEBHOOK_URL',
      ['webhook_url'],
    ],
    ['an empty URL', { ...valid, webhook_url: '' }, 'INVALID_WEBHOOK_URL', ['webhook_url']],
    [
      'all of them: the method comes first',
      { ...withCustomer({ document: '1' }), method: 'card', amount: 1, webhook_url: 'x' },
      'METHOD_NOT_SUPPORTED',
      [],
    ],
    [
      'amount before document',
      { ...withCustomer({ document: '1' }), amount: 1, webhook_url: 'x' },
      'AMOUNT_BELOW_MINIMUM',
      [],
    ],
    [
      'document before URL',
      { ...withCustomer({ document: '1' }), webhook_url: 'x' },
      'INVALID_DOCUMENT',
      ['customer.document'],
    ],
  ])('%s', (_name, body, code, details) => {
    expect(check(body)).toEqual({ code, details });
  });

  test('a shape fault wins over a business fault', () => {
    expect(check({ ...valid, method: 'boleto', expires_in: 1 })).toMatchObject({
      code: 'VALIDATION_ERROR',
    });
  });
});
