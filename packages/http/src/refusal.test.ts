import { ADMIN_ROUTES } from '@pixmesh/contracts/admin/admin-routes';
import { PUBLIC_ROUTES, type PublicRoute } from '@pixmesh/contracts/http/public-routes';
import { AppError } from '@pixmesh/kernel/app-error';
import { newId } from '@pixmesh/kernel/ids';
import { expect, test } from 'vitest';
import { z } from 'zod';

import { toErrorAnswer } from './error-reply.ts';
import { parseShape, readJsonBody } from './json-request.ts';
import { readListQuery } from './list-page.ts';
import { explained, invalidRequest } from './refusal.ts';

const CANARY = 'canary-7f3a';
const ROUTES: readonly Pick<PublicRoute, 'body' | 'query' | 'method' | 'path'>[] = Object.values({
  ...PUBLIC_ROUTES,
  ...ADMIN_ROUTES,
} as never);

function refusalOf(work: () => unknown): { message: string; details: string[] } {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError) return toErrorAnswer(error).body;
    throw error;
  }
  throw new Error('that was taken');
}

const bodyOf = (method: string, path: string) => {
  const route = ROUTES.find((one) => one.method === method && one.path === path);
  return route?.body ?? z.never();
};
const CHARGE = { amount: 100, customer: { name: 'Ana', email: 'a@b.example', document: '1' } };
const PAYOUT = { amount: 500, pix_key_type: 'cpf', pix_key: '529.982.247-25' };
const NAME = '1 to 200 characters, without control characters';

test.each<[string, string, object, string]>([
  ['POST', '/v1/charges', { ...CHARGE, amount: '1' }, 'amount: expected an integer'],
  ['POST', '/v1/charges', { ...CHARGE, amount: 1.5 }, 'amount: expected an integer'],
  ['POST', '/v1/charges', { ...CHARGE, amount: 1e12 }, 'amount: expected at most 999999999999'],
  ['POST', '/v1/charges', { ...CHARGE, expires_in: 59 }, 'expires_in: expected at least 60'],
  [
    'POST',
    '/v1/charges',
    { ...CHARGE, expires_in: 604_801 },
    'expires_in: expected at most 604800',
  ],
  [
    'POST',
    '/v1/charges',
    { ...CHARGE, description: 'x'.repeat(141) },
    'description: expected at most 140 characters, without control characters',
  ],
  ['POST', '/v1/charges', { ...CHARGE, customer: null }, 'customer: expected an object'],
  [
    'POST',
    '/v1/charges',
    { ...CHARGE, customer: { ...CHARGE.customer, name: ' ' } },
    `customer.name: expected ${NAME}`,
  ],
  [
    'POST',
    '/v1/charges',
    { ...CHARGE, webhook_url: `http://a/${'x'.repeat(3_000)}` },
    'webhook_url: expected a URL of at most 2048 characters',
  ],
  ['POST', '/v1/payouts', { ...PAYOUT, pix_key: CANARY }, 'pix_key: expected a key of its type'],
  [
    'POST',
    '/v1/payouts',
    { ...PAYOUT, pix_key_type: CANARY },
    'pix_key_type: expected one of cpf, cnpj, email, phone, random',
  ],
  [
    'POST',
    '/v1/webhooks',
    { url: 'http://a.example', events: [] },
    'events: expected a list of event names',
  ],
  [
    'POST',
    '/v1/webhooks',
    { url: 'http://a.example', events: ['a'], secret: '1234567' },
    'secret: expected 8 to 255 characters, without control characters',
  ],
  ['PATCH', '/v1/webhooks/:id', { active: 'no' }, 'active: expected true or false'],
  [
    'POST',
    '/admin/recoveries',
    { account_id: newId(), created_until: '2026-11-21T12:00:00Z' },
    'created_from: expected a date and time with Z or an offset',
  ],
])('%s %s says what it expects', (method, path, body, expected) => {
  const { message } = refusalOf(() => parseShape(bodyOf(method, path), body));
  expect(message).toBe(`The request is invalid. ${expected}.`);
});

test('several faults stand in their order, each once', () => {
  const { message, details } = refusalOf(() => parseShape(bodyOf('POST', '/v1/charges'), {}));
  expect(details).toEqual(['amount', 'customer']);
  expect(message).toBe(
    'The request is invalid. amount: expected an integer; customer: expected an object.',
  );
});

test('a list says which limits, statuses, instants and cursors it takes', () => {
  const filters = z.object({ status: z.enum(['paid', 'failed']).optional() });
  const query = { limit: '101', starting_after: 'x', status: CANARY };
  const { message } = refusalOf(() => readListQuery(filters, query));
  expect(message).toBe(
    'The request is invalid. limit: expected an integer from 1 to 100; starting_after: expected the id of an item of this list; ' +
      'status: expected one of paid, failed.',
  );
});

test('a header says which value was expected', () => {
  const sent = (headers: object) => () =>
    readJsonBody({ body: Buffer.from('{}'), headers } as never);
  expect(refusalOf(sent({ 'content-type': 'text/plain' })).message).toContain(
    'content-type: expected application/json',
  );
  expect(refusalOf(sent({ 'content-encoding': 'gzip' })).message).toContain(
    'content-encoding: expected no content coding',
  );
  const { message } = refusalOf(() => readJsonBody({ body: Buffer.from('{'), headers: {} }));
  expect(message).toContain('body: expected one JSON object');
});

test('a code keeps its title before what is expected', () => {
  const { body } = toErrorAnswer(
    explained('AMOUNT_BELOW_MINIMUM', 'amount: expected at least 100 cents.'),
  );
  expect(body).toEqual({
    code: 'AMOUNT_BELOW_MINIMUM',
    message:
      'The amount is below the minimum of the operation. amount: expected at least 100 cents.',
    details: [],
  });
});

test('details name every fault, and the message only so many', () => {
  const faults = Array.from({ length: 12 }, (_, index) => ({
    name: `f${index}`,
    expected: 'a text',
  }));
  const { body } = toErrorAnswer(invalidRequest(...faults));
  expect(body.details).toHaveLength(12);
  expect(body.message).toMatch(/f9: expected a text; and 2 more\.$/);
});

/** Every schema of a body or query that people send. */
const SENT = [...ROUTES].flatMap(({ method, path, body, query }) =>
  [body, query].flatMap((schema) => (schema ? [[`${method} ${path}`, schema] as const] : [])),
);
const WRONG = [
  CANARY,
  `${CANARY}\u0000`,
  CANARY.repeat(300),
  '',
  -1,
  1.5,
  1e15,
  true,
  [],
  [CANARY],
  {},
  null,
];

test.each(SENT)(
  'whatever is wrong in %s, the message says what is expected, and not what was sent',
  (_route, schema) => {
    const names = Object.keys((schema as z.ZodObject).shape ?? {});
    for (const value of WRONG) {
      const sent = Object.fromEntries(names.map((name) => [name, value]));
      const result = schema.safeParse(sent);
      if (result.success) continue;
      const { message, details } = refusalOf(() => parseShape(schema, sent));
      for (const name of details.slice(0, 10)) expect(message).toContain(`${name}: expected `);
      expect(message).not.toContain(CANARY);
      expect(message).not.toMatch(/another (value|form)|undefined/);
    }
  },
);
