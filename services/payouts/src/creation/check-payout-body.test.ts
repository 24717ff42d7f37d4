import { AppError } from '@pixmesh/kernel/app-error';
import { describe, expect, test } from 'vitest';

import { checkPayoutBody } from './check-payout-body.ts';

const valid = { amount: 1_500, pix_key_type: 'phone', pix_key: '(11) 98765-4321' };

function check(body: object) {
  try {
    return checkPayoutBody(body as Record<string, unknown>);
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, details: error.details };
    throw error;
  }
}

test('a full body is taken in its normal form, its key both as sent and canonical', () => {
  const order = check({
    ...valid,
    method: 'pix',
    recipient_name: 'Ana Souza',
    recipient_document: '11.222.333/0001-81',
    description: 'Repasse 1',
    reference: 'repasse-1',
    webhook_url: 'https://loja.com.br/hook',
    webhook_secret: 's',
    unknown: { nested: true },
  });
  expect(order).toEqual({
    amount: 1_500n,
    pixKeyType: 'phone',
    pixKey: '(11) 98765-4321',
    pixKeyCanonical: '+5511987654321',
    recipientName: 'Ana Souza',
    recipientDocument: '11222333000181',
    description: 'Repasse 1',
    reference: 'repasse-1',
    webhookUrl: 'https://loja.com.br/hook',
    webhookSecret: 's',
  });
});

test('null and empty text are the same as absent', () => {
  const order = check({
    ...valid,
    method: null,
    recipient_name: '',
    recipient_document: null,
    description: '',
    reference: '',
    webhook_url: null,
    webhook_secret: null,
  });
  expect(order).toMatchObject({
    recipientName: null,
    recipientDocument: null,
    description: null,
    reference: null,
    webhookUrl: null,
  });
});

test('a secret without a URL is checked, then dropped', () => {
  expect(check({ ...valid, webhook_secret: 'kept nowhere' })).toMatchObject({
    webhookSecret: null,
  });
  expect(check({ ...valid, webhook_secret: '' })).toEqual({
    code: 'VALIDATION_ERROR',
    details: ['webhook_secret'],
  });
});

describe('shape faults are VALIDATION_ERROR with their exact names, all in one answer', () => {
  test.each<[string, object, string[]]>([
    ['nothing at all', {}, ['amount', 'pix_key_type', 'pix_key']],
    ['amount as text', { ...valid, amount: '1500' }, ['amount']],
    ['amount with cents', { ...valid, amount: 10.5 }, ['amount']],
    ['amount too large', { ...valid, amount: 1_000_000_000_000 }, ['amount']],
    ['amount true', { ...valid, amount: true }, ['amount']],
    ['method as number', { ...valid, method: 1 }, ['method']],
    ['a control in the method', { ...valid, method: 'pix\u0000' }, ['method']],
    ['a type nobody knows', { ...valid, pix_key_type: 'CPF' }, ['pix_key_type']],
    ['a type of EVP', { ...valid, pix_key_type: 'evp' }, ['pix_key_type']],
    ['no type', { amount: 1_500, pix_key: 'x' }, ['pix_key_type']],
    ['key null', { ...valid, pix_key: null }, ['pix_key']],
    ['key as number', { ...valid, pix_key: 11987654321 }, ['pix_key']],
    ['key empty', { ...valid, pix_key: '' }, ['pix_key']],
    ['key of another type', { ...valid, pix_key_type: 'cpf' }, ['pix_key']],
    ['a control in the key', { ...valid, pix_key: '11987654321\n' }, ['pix_key']],
    ['a lone surrogate in the key', { ...valid, pix_key: '11987654321\ud800' }, ['pix_key']],
    [
      'an e-mail of 78',
      { ...valid, pix_key_type: 'email', pix_key: `${'a'.repeat(66)}@example.com` },
      ['pix_key'],
    ],
    ['name of 201', { ...valid, recipient_name: 'x'.repeat(201) }, ['recipient_name']],
    ['NUL in the name', { ...valid, recipient_name: 'a\u0000' }, ['recipient_name']],
    ['document empty', { ...valid, recipient_document: '' }, ['recipient_document']],
    ['document as number', { ...valid, recipient_document: 52998224725 }, ['recipient_document']],
    [
      'wrong check digits',
      { ...valid, recipient_document: '529.982.247-24' },
      ['recipient_document'],
    ],
    [
      'eleven equal digits',
      { ...valid, recipient_document: '11111111111' },
      ['recipient_document'],
    ],
    ['description of 141', { ...valid, description: 'x'.repeat(141) }, ['description']],
    ['a line feed in the reference', { ...valid, reference: 'a\nb' }, ['reference']],
    ['a lone surrogate', { ...valid, reference: '\ud800' }, ['reference']],
    ['reference of 256', { ...valid, reference: 'x'.repeat(256) }, ['reference']],
    [
      'webhook_url of 2049',
      { ...valid, webhook_url: `https://a.com/${'x'.repeat(2035)}` },
      ['webhook_url'],
    ],
    ['webhook_url as number', { ...valid, webhook_url: 1 }, ['webhook_url']],
    ['webhook_secret of 256', { ...valid, webhook_secret: 'x'.repeat(256) }, ['webhook_secret']],
    [
      'a wrong key among other faults',
      { ...valid, amount: 1.5, pix_key: 'x', recipient_document: '1', description: 1 },
      ['amount', 'pix_key', 'recipient_document', 'description'],
    ],
    [
      'a key that cannot be checked among other faults',
      { amount: 1.5, pix_key_type: 'x', pix_key: 'x' },
      ['amount', 'pix_key_type'],
    ],
  ])('%s', (_name, body, details) => {
    expect(check(body)).toEqual({ code: 'VALIDATION_ERROR', details });
  });

  test('140 emoji are 140 characters', () => {
    expect(check({ ...valid, description: '😀'.repeat(140) })).toMatchObject({ amount: 1_500n });
  });

  test('a shape fault comes before every business rule', () => {
    const wrong = { ...valid, amount: 1, method: 'ted', webhook_url: 'http://localhost/' };
    expect(check({ ...wrong, pix_key: 'x' })).toEqual({
      code: 'VALIDATION_ERROR',
      details: ['pix_key'],
    });
  });
});

describe('business rules have their own code, in a fixed order', () => {
  const local = { webhook_url: 'http://localhost/' };
  test.each<[string, object, string, string[]]>([
    ['TED', { ...valid, method: 'ted' }, 'METHOD_NOT_SUPPORTED', []],
    ['the empty method', { ...valid, method: '' }, 'METHOD_NOT_SUPPORTED', []],
    ['499 cents', { ...valid, amount: 499 }, 'AMOUNT_BELOW_MINIMUM', []],
    ['zero', { ...valid, amount: 0 }, 'AMOUNT_BELOW_MINIMUM', []],
    ['a negative amount', { ...valid, amount: -500 }, 'AMOUNT_BELOW_MINIMUM', []],
    ['a local URL', { ...valid, ...local }, 'INVALID_WEBHOOK_URL', ['webhook_url']],
    ['an empty URL', { ...valid, webhook_url: '' }, 'INVALID_WEBHOOK_URL', ['webhook_url']],
    ['method before amount', { ...valid, method: 'ted', amount: 1 }, 'METHOD_NOT_SUPPORTED', []],
    ['amount before URL', { ...valid, ...local, amount: 1 }, 'AMOUNT_BELOW_MINIMUM', []],
  ])('%s', (_name, body, code, details) => {
    expect(check(body)).toEqual({ code, details });
  });

  test('500 cents and the greatest amount are taken', () => {
    expect(check({ ...valid, amount: 500 })).toMatchObject({ amount: 500n });
    expect(check({ ...valid, amount: 999_999_999_999 })).toMatchObject({
      amount: 999_999_999_999n,
    });
  });
});
