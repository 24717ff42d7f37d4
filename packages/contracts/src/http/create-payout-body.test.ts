import { describe, expect, test } from 'vitest';
import { z } from 'zod';

import { CreatePayoutBody } from './create-payout-body.ts';

const valid = { amount: 500, pix_key_type: 'cpf', pix_key: '529.982.247-25' };

function faultsOf(body: unknown): string[] {
  const result = CreatePayoutBody.safeParse(body);
  return result.success ? [] : result.error.issues.map((issue) => issue.path.join('.'));
}

test('what is optional becomes null or its default; the key stays as sent; unknown fields go', () => {
  expect(CreatePayoutBody.parse({ ...valid, unknown: 1 })).toEqual({
    ...valid,
    method: 'pix',
    recipient_name: null,
    recipient_document: null,
    description: null,
    reference: null,
    webhook_url: null,
    webhook_secret: null,
  });
});

test('a document is taken unmasked', () => {
  const body = CreatePayoutBody.parse({ ...valid, recipient_document: '11.222.333/0001-81' });
  expect(body.recipient_document).toBe('11222333000181');
});

describe('every fault is named, in the order of the fields', () => {
  test.each<[string, object, string[]]>([
    ['a key beside a fractional amount', { amount: 1.5, pix_key: 'x' }, ['amount', 'pix_key']],
    ['a key beside an amount as text', { amount: '5', pix_key: 'x' }, ['amount', 'pix_key']],
    [
      'all fields',
      {
        amount: 1.5,
        method: 1,
        pix_key: 'x',
        recipient_name: 1,
        recipient_document: '1',
        description: 1,
        reference: 1,
        webhook_url: 1,
        webhook_secret: '',
      },
      [
        'amount',
        'method',
        'pix_key',
        'recipient_name',
        'recipient_document',
        'description',
        'reference',
        'webhook_url',
        'webhook_secret',
      ],
    ],
    ['a key without a type', { pix_key_type: undefined, pix_key: 'x' }, ['pix_key_type']],
  ])('%s', (_name, change, faults) => {
    expect(faultsOf({ ...valid, ...change })).toEqual(faults);
  });
});

test('it can be written down as JSON Schema', () => {
  const schema = z.toJSONSchema(CreatePayoutBody, { io: 'input' });
  expect(JSON.stringify(schema)).toContain('pix_key_type');
});
