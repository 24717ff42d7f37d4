import { randomUUID } from 'node:crypto';

import { equal, holds, oneOf, shaped } from '../client/expectations.ts';
import type { Answer } from '../client/http-client.ts';
import { Charge, ErrorBody } from '../client/schemas.ts';
import { it, section, unobservable } from '../suite/case.ts';
import { bodyWith } from '../world/api-client.ts';
import { bareCharge, keyWith, refusedCharge } from '../world/fixtures.ts';
import { aCustomer, CUSTOMER } from '../world/merchant.ts';
import { ERROR_STATUS, type ErrorCode, refused } from '../world/refusals.ts';
import { shared, type World } from '../world/world.ts';

/** How long an installation may take to find out what became of a call that broke. */
const READ_BACK_MS_MAX = 60_000;

/** The condition of a code, a call that meets it, and the details of the refusal. */
type Provoked = readonly [string, (w: World) => Promise<Answer>, string[]?];

/** Every code that needs nothing but the key. */
const PROVOKED: Partial<Record<ErrorCode, Provoked>> = {
  UNAUTHORIZED: [
    'key missing or not accepted',
    (w) => w.own.call('GET /v1/balance', { key: null }),
  ],
  IDEMPOTENCY_KEY_REQUIRED: ['header missing on a creation', (w) => w.own.charges.post({}, null)],
  VALIDATION_ERROR: [
    'invalid body fields; `details` lists them',
    (w) => w.own.charges.post({ amount: 'many' }),
    ['amount'],
  ],
  INVALID_DOCUMENT: [
    'CPF or CNPJ invalid (`customer.document` in `details`)',
    (w) => w.own.charges.post({ customer: { ...CUSTOMER, document: '1' } }),
    ['customer.document'],
  ],
  METHOD_NOT_SUPPORTED: [
    'payment method not available in v1',
    (w) => w.own.charges.post({ method: 'card' }),
  ],
  AMOUNT_BELOW_MINIMUM: [
    'amount below the operation minimum',
    (w) => w.own.charges.post({ amount: 1 }),
  ],
  INSUFFICIENT_BALANCE: [
    'available balance lower than amount plus fee',
    (w) => w.own.payouts.post({ amount: 99_999_999_999 }),
  ],
  CHARGE_NOT_FOUND: [
    'charge missing or of another account',
    (w) => w.own.call(`GET /v1/charges/${randomUUID()}`),
  ],
  PAYOUT_NOT_FOUND: [
    'payout missing or of another account',
    (w) => w.own.call(`GET /v1/payouts/${randomUUID()}`),
  ],
  WEBHOOK_NOT_FOUND: [
    'endpoint missing or of another account or application',
    (w) => w.own.call(`DELETE /v1/webhooks/${randomUUID()}`),
  ],
  INVALID_WEBHOOK_URL: [
    'not http(s), localhost, private IP or link-local',
    (w) => w.own.charges.post({ webhook_url: 'http://localhost/' }),
  ],
};
const PROVOKED_ROWS = Object.entries(PROVOKED) as [ErrorCode, Provoked][];

export const ERROR_CASES = section('errors', [
  it('body', 'Every error has body `{code, message, details}`', async (w) => {
    for (const [code, [, provoke]] of PROVOKED_ROWS) {
      shaped(ErrorBody, (await provoke(w)).json, `the error body of ${code}`);
    }
  }),
  it('body.unknown-route', 'every error: also of a route that does not exist', async (w) => {
    shaped(ErrorBody, (await w.own.call('GET /v1/nothing')).json, 'the error body');
  }),
  it('body.malformed', 'every error: also of a body that is no JSON', async (w) => {
    const headers = { 'idempotency-key': randomUUID() };
    const answer = await w.own.call('POST /v1/charges', { headers, rawBody: '{"amount":' });
    refused(answer, 'VALIDATION_ERROR');
  }),
  it('body.oversized', 'every error: also of a body that is too long', async (w) => {
    const answer = await w.own.charges.post({ description: 'x'.repeat(200_000) });
    holds(answer.status >= 400 && answer.status < 500, 'refused', answer.status);
    shaped(ErrorBody, answer.json, 'the error body');
  }),
  it('code', '`code` is a stable string: the same fault, the same code', async (w) => {
    const bodies = [1, 99].map((amount) => w.own.charges.post({ amount }));
    const codes = (await Promise.all(bodies)).map((one) => refused(one, 400).code);
    equal(codes, ['AMOUNT_BELOW_MINIMUM', 'AMOUNT_BELOW_MINIMUM'], 'codes');
  }),
  it('message', '`message` is human text', async (w) => {
    const { message } = refused(await w.own.call('GET /v1/balance', { key: null }), 401);
    holds(/[a-z]+ [a-z]+/i.test(message), 'words', message);
  }),
  it('details.fields', '`details`: an array of failing fields', async (w) => {
    const changes = { amount: 'x', description: 7, customer: { ...CUSTOMER, email: 'x' } };
    refused(await w.own.charges.post(changes), 400, ['amount', 'customer.email', 'description']);
  }),
  it.admin('details.scopes', '`details`: an array of required scopes', async (w) => {
    const key = await keyWith(w, 'account:read');
    refused(await key.call('GET /v1/balance'), 403, ['balance:read']);
  }),
  it('status.200', '200: read succeeded', async (w) => {
    bodyWith(await w.own.call('GET /v1/balance'), 200);
  }),
  it('status.201', '201: resource created', async (w) => {
    bodyWith(await w.own.charges.post(), 201);
  }),
  it('status.204', '204: removed, no body', async (w) => {
    const { id } = await w.own.endpoints.create();
    const answer = await w.own.call(`DELETE /v1/webhooks/${id}`);
    equal([answer.status, answer.text], [204, ''], 'status and body');
  }),
  it('status.400', '400: invalid payload or business rule refused', async (w) => {
    const headers = { 'idempotency-key': randomUUID() };
    refused(await w.own.call('POST /v1/charges', { headers, body: [] }), 400);
    refused(await w.own.charges.post({ amount: 1 }), 400);
  }),
  it('status.401', '401: key missing, invalid, expired or revoked', async (w) => {
    refused(await w.own.call('GET /v1/balance', { key: 'invalid' }), 401);
  }),
  it.admin('status.403', '403: key lacks the required scope', async (w) => {
    const key = await keyWith(w, 'account:read');
    refused(await key.call('GET /v1/balance'), 403);
  }),
  it.admin('code.INSUFFICIENT_SCOPE', '`INSUFFICIENT_SCOPE` 403: scope missing', async (w) => {
    const key = await keyWith(w, 'account:read');
    refused(await key.call('GET /v1/charges'), 'INSUFFICIENT_SCOPE', ['charge:read']);
  }),
  it.admin('code.PAYOUTS_DISABLED', '`PAYOUTS_DISABLED` 422: payouts disabled', async (w) => {
    const settings = { onboarding_status: 'approved', payouts_enabled: false };
    const merchant = await w.admin.createAccount(settings);
    refused(await merchant.payouts.post(), 'PAYOUTS_DISABLED');
  }),
  it.admin('status.404-own', '404: exists, but not in this account', async (w) => {
    const stranger = await w.admin.createAccount();
    refused(await stranger.call(`GET /v1/charges/${(await bareCharge(w)).id}`), 404);
  }),
  it('status.404', '404: resource does not exist in this account', async (w) => {
    refused(await w.own.call(`GET /v1/charges/${randomUUID()}`), 404);
  }),
  it('status.422', '422: acquirer or platform refused the operation', async (w) => {
    refused(await w.own.charges.post({ webhook_url: 'http://localhost/' }), 422);
  }),
  ...PROVOKED_ROWS.map(([code, [condition, provoke, details]]) =>
    it(`code.${code}`, `\`${code}\` ${ERROR_STATUS[code]}: ${condition}`, async (w) => {
      refused(await provoke(w), code, details);
    }),
  ),
  it.simulator('code.ACQUIRER_REJECTED', '`ACQUIRER_REJECTED` 422 with `charge_id`', async (w) => {
    const { answer } = await refusedCharge(w);
    const body = refused(answer, 'ACQUIRER_REJECTED');
    const charge = await w.own.charges.read(body.charge_id ?? '');
    equal(charge.status, 'failed', 'the status of the charge that is named');
  }),
  it.simulator('code.INTERNAL_ERROR', '`INTERNAL_ERROR` 500: unexpected failure', async (w) => {
    const { first } = await failedCall(w);
    refused(first, 'INTERNAL_ERROR');
  }),
  it.simulator('status.500', '500: may be retried with the same idempotency key', async (w) => {
    const { key, second } = await failedCall(w);
    holds(key.length > 0, 'the same key', key);
    bodyWith(second, 201);
  }),
  it.simulator(
    'rule.repeat',
    'On `500`, repeat the whole call with the same key: it ends',
    async (w) => {
      const { second } = await failedCall(w);
      const { id } = shaped(Charge, bodyWith(second, 201), 'the charge');
      await w.own.charges.until(id, 'pending', READ_BACK_MS_MAX);
    },
  ),
  it('rule.no-use', 'On other `4xx`, repeating without correction does not help', async (w) => {
    const key = randomUUID();
    for (let call = 0; call < 2; call += 1) {
      refused(await w.own.charges.post({ amount: 1 }, key), 'AMOUNT_BELOW_MINIMUM');
    }
  }),
  unobservable(
    'rule.429',
    'A future `429` will use the same error format',
    'v1 applies no numeric limit, so no `429` can be provoked',
  ),
  it('rule.outside-the-catalog', 'a name outside the catalog: status `422`', async (w) => {
    refused(await w.own.endpoints.post({ events: ['charge.paid'] }), 422);
  }),
  it('known-statuses', 'no answer has a status outside the table', async (w) => {
    const known = [200, 201, 204, 400, 401, 403, 404, 422, 500];
    for (const [, [, provoke]] of PROVOKED_ROWS) oneOf((await provoke(w)).status, known, 'status');
  }),
]);

/** A creation whose issuance broke once, and its repetition. */
const failedCall = shared(async (w) => {
  const customer = aCustomer();
  const [key, body] = [randomUUID(), { customer, reference: 'broken' }];
  const only = { debtor: customer.name };
  const rule = { operation: 'issueCharge', fault: 'error_before', count: 1, only };
  const first = await w.simulator.withFault(rule, () => w.own.charges.post(body, key));
  return { key, first, second: await w.own.charges.post(body, key) };
});
