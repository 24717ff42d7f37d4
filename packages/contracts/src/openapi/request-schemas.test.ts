import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';

import { CreateChargeBody } from '../http/create-charge-body.ts';
import { CreatePayoutBody } from '../http/create-payout-body.ts';
import { CreateWebhookBody, UpdateWebhookBody } from '../http/webhook-body.ts';
import { buildPublicDocument } from './build-public-document.ts';

/**
 * The document against the validator: what either takes, field by field. The rules that JSON Schema cannot say, or
 * that have a code of their own, stand in the texts: check digits, keys of their type, public hosts.
 */
const ajv = new Ajv2020({ strict: false, allErrors: true });
(ajvFormats as unknown as (ajv: Ajv2020) => void)(ajv);
ajv.addSchema({ $id: 'document:', components: buildPublicDocument().components });

type Body = Record<string, unknown>;
type Case = { name: string; schema: z.ZodType; valid: Body };

const CHARGE: Case = {
  name: 'CreateCharge',
  schema: CreateChargeBody,
  valid: {
    amount: 100,
    customer: { name: 'Ana', email: 'ana@example.com', document: '529.982.247-25' },
  },
};
const PAYOUT: Case = {
  name: 'CreatePayout',
  schema: CreatePayoutBody,
  valid: { amount: 500, pix_key_type: 'cpf', pix_key: '52998224725' },
};
const CREATED: Case = {
  name: 'CreateWebhook',
  schema: CreateWebhookBody,
  valid: { url: 'https://shop.example.com/hooks', events: ['charge.pix.paid'] },
};
const UPDATED: Case = { name: 'UpdateWebhook', schema: UpdateWebhookBody, valid: {} };

function verdicts({ name, schema }: Case, body: Body): { document: boolean; validator: boolean } {
  const validate = ajv.getSchema(`document:#/components/schemas/${name}`);
  return { document: validate?.(body) === true, validator: schema.safeParse(body).success };
}

/** Puts a value at a dotted path of the valid body; undefined leaves the field out. */
function change({ valid }: Case, path: string, value: unknown): Body {
  const body = structuredClone(valid);
  const names = path.split('.');
  const last = names.pop() ?? '';
  const target = names.reduce((inner, name) => inner[name] as Body, body);
  if (value === undefined) delete target[last];
  else target[last] = value;
  return body;
}

/** Any text but lone surrogates, which no generator of JSON makes: often as long as the limits of some field. */
const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc
    .tuple(fc.constantFrom('x', '😀', 'é'), fc.constantFrom(7, 8, 32, 33, 140, 141, 255, 256))
    .map(([letter, length]) => letter.repeat(length)),
);
const anything = fc.oneof(
  texts,
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.constant(undefined),
  fc.constant({}),
  fc.constant([]),
);

describe('field by field, the document takes exactly what the validator takes', () => {
  test.each<[Case, string]>([
    [CHARGE, 'customer.phone'],
    [CHARGE, 'description'],
    [CHARGE, 'reference'],
    [CHARGE, 'expires_in'],
    [CHARGE, 'webhook_secret'],
    [PAYOUT, 'pix_key_type'],
    [PAYOUT, 'recipient_name'],
    [PAYOUT, 'description'],
    [PAYOUT, 'reference'],
    [PAYOUT, 'webhook_secret'],
    [CREATED, 'description'],
    [CREATED, 'secret'],
    [UPDATED, 'description'],
    [UPDATED, 'secret'],
    [UPDATED, 'active'],
  ])('$name $1', (which, path) => {
    fc.assert(
      fc.property(anything, (value) => {
        const { document, validator } = verdicts(which, change(which, path, value));
        expect([value, document]).toEqual([value, validator]);
      }),
    );
  });

  test.each<[Case, string, number[]]>([
    [CHARGE, 'amount', [100, 1e3, 999_999_999_999, 1_000_000_000_000, 100.5]],
    [CHARGE, 'expires_in', [59, 60, 604_800, 604_801, 60.5]],
    [PAYOUT, 'amount', [500, 999_999_999_999, 1_000_000_000_000, 500.01]],
  ])('$name $1 at its bounds', (which, path, values) => {
    for (const value of values) {
      const { document, validator } = verdicts(which, change(which, path, value));
      expect([value, document]).toEqual([value, validator]);
    }
  });
});

describe('what the document takes, the validator takes', () => {
  test.each<[Case, string, fc.Arbitrary<unknown>]>([
    [CHARGE, 'customer.name', anything],
    [CHARGE, 'customer', anything],
    [CHARGE, 'customer.email', fc.oneof(fc.emailAddress(), anything)],
    [CHARGE, 'customer.document', anything],
    [CHARGE, 'method', anything],
    [CHARGE, 'amount', fc.oneof(fc.integer(), anything)],
    [CHARGE, 'webhook_url', fc.oneof(fc.webUrl(), anything)],
    [PAYOUT, 'method', anything],
    [PAYOUT, 'webhook_url', fc.oneof(fc.webUrl(), anything)],
    [CREATED, 'url', fc.oneof(fc.webUrl(), anything)],
    [CREATED, 'events', fc.oneof(fc.subarray(['charge.pix.paid', 'dispute.pix.won']), anything)],
    [UPDATED, 'events', anything],
    [UPDATED, 'url', anything],
  ])('$name $1', (which, path, values) => {
    fc.assert(
      fc.property(values, (value) => {
        const { document, validator } = verdicts(which, change(which, path, value));
        expect([value, document && !validator]).toEqual([value, false]);
      }),
    );
  });
});

test.each([
  '529.982.247-25',
  '52998224725',
  '11.222.333/0001-81',
  '12.ABC.345/01DE-35',
  '12.abc.345/01de-35',
  ' 529 982 247 25 ',
])('every form of a document is in the pattern: %s', (document) => {
  expect(verdicts(PAYOUT, change(PAYOUT, 'recipient_document', document))).toEqual({
    document: true,
    validator: true,
  });
});

test.each(['', '1', '5299822472', '529982247255', 'ABC', '12.ABC.345/01DE-3X', '529_982_247_25'])(
  'and what has no form of a document is not: %j',
  (document) => {
    expect(verdicts(PAYOUT, change(PAYOUT, 'recipient_document', document))).toEqual({
      document: false,
      validator: false,
    });
  },
);
