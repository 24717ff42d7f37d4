import { randomUUID } from 'node:crypto';

import { Charge, ErrorBody } from '../client/schemas.ts';
import { type ObservedCase, section, unobservable, it, faulty } from '../suite/case.ts';
import { equal, holds, oneOf, shaped } from '../client/expectations.ts';
import { bareCharge, createEndpoint, endpointUrl, refusedCharge } from '../world/fixtures.ts';
import {
  aChargeBody,
  aPayoutBody,
  bodyWith,
  CUSTOMER,
  type Merchant,
  postCharge,
  postPayout,
  readCharge,
} from '../world/merchant.ts';
import { refused, type Refusal } from '../world/refusals.ts';
import { until } from '../world/until.ts';
import type { Answer } from '../client/http-client.ts';
import type { World } from '../world/world.ts';

/** How long an installation may take to find out what became of a call that broke. */
const READ_BACK_MS_MAX = 60_000;

type Provoke = (w: World) => Promise<Answer>;

/** A call for each code that needs nothing but the key. */
const PROVOKED: readonly (readonly [Refusal & { code: string }, string, Provoke])[] = [
  [
    { status: 401, code: 'UNAUTHORIZED' },
    'key missing or not accepted',
    (w) => w.own.call('GET /v1/balance', { key: null }),
  ],
  [
    { status: 400, code: 'IDEMPOTENCY_KEY_REQUIRED' },
    'header missing on a creation',
    (w) => w.own.call('POST /v1/charges', { body: aChargeBody() }),
  ],
  [
    { status: 400, code: 'VALIDATION_ERROR', details: ['amount'] },
    'invalid body fields; `details` lists them',
    (w) => postCharge(w.own, aChargeBody({ amount: 'many' })),
  ],
  [
    { status: 400, code: 'INVALID_DOCUMENT', details: ['customer.document'] },
    'CPF or CNPJ invalid (`customer.document` in `details`)',
    (w) => postCharge(w.own, aChargeBody({ customer: { ...CUSTOMER, document: '1' } })),
  ],
  [
    { status: 400, code: 'METHOD_NOT_SUPPORTED' },
    'payment method not available in v1',
    (w) => postCharge(w.own, aChargeBody({ method: 'card' })),
  ],
  [
    { status: 400, code: 'AMOUNT_BELOW_MINIMUM' },
    'amount below the operation minimum',
    (w) => postCharge(w.own, aChargeBody({ amount: 1 })),
  ],
  [
    { status: 400, code: 'INSUFFICIENT_BALANCE' },
    'available balance lower than amount plus fee',
    (w) => postPayout(w.own, aPayoutBody({ amount: 99_999_999_999 })),
  ],
  [
    { status: 404, code: 'CHARGE_NOT_FOUND' },
    'charge missing or of another account',
    (w) => w.own.call(`GET /v1/charges/${randomUUID()}`),
  ],
  [
    { status: 404, code: 'PAYOUT_NOT_FOUND' },
    'payout missing or of another account',
    (w) => w.own.call(`GET /v1/payouts/${randomUUID()}`),
  ],
  [
    { status: 404, code: 'WEBHOOK_NOT_FOUND' },
    'endpoint missing or of another account or application',
    (w) => w.own.call(`DELETE /v1/webhooks/${randomUUID()}`),
  ],
  [
    { status: 422, code: 'INVALID_WEBHOOK_URL' },
    'not http(s), localhost, private IP or link-local',
    (w) => postCharge(w.own, aChargeBody({ webhook_url: 'http://localhost/' })),
  ],
];

function codeCases(): ObservedCase[] {
  return PROVOKED.map(([refusal, condition, provoke]) =>
    it(`code.${refusal.code}`, `\`${refusal.code}\` ${refusal.status}: ${condition}`, async (w) => {
      refused(await provoke(w), refusal);
    }),
  );
}

export const ERROR_CASES = section('errors', [
  it('body', 'Every error has body `{code, message, details}`', async (w) => {
    for (const [refusal, , provoke] of PROVOKED) {
      const answer = await provoke(w);
      shaped(ErrorBody, answer.json, `the error body of ${refusal.code}`);
    }
  }),
  it('body.unknown-route', 'every error: also of a route that does not exist', async (w) => {
    shaped(ErrorBody, (await w.own.call('GET /v1/nothing')).json, 'the error body');
  }),
  it('body.malformed', 'every error: also of a body that is no JSON', async (w) => {
    const headers = { 'idempotency-key': randomUUID() };
    const answer = await w.own.call('POST /v1/charges', { headers, rawBody: '{"amount":' });
    refused(answer, { status: 400, code: 'VALIDATION_ERROR' });
  }),
  it('body.oversized', 'every error: also of a body that is too long', async (w) => {
    const headers = { 'idempotency-key': randomUUID() };
    const body = aChargeBody({ description: 'x'.repeat(200_000) });
    const answer = await w.own.call('POST /v1/charges', { headers, body });
    holds(answer.status >= 400 && answer.status < 500, 'refused', answer.status);
    shaped(ErrorBody, answer.json, 'the error body');
  }),
  it('code', '`code` is a stable string: the same fault, the same code', async (w) => {
    const bodies = [1, 99].map((amount) => postCharge(w.own, aChargeBody({ amount })));
    const codes = (await Promise.all(bodies)).map((one) => refused(one, { status: 400 }).code);
    equal(codes, ['AMOUNT_BELOW_MINIMUM', 'AMOUNT_BELOW_MINIMUM'], 'codes');
  }),
  it('message', '`message` is human text', async (w) => {
    const { message } = refused(await w.own.call('GET /v1/balance', { key: null }), {
      status: 401,
    });
    holds(/[a-z]+ [a-z]+/i.test(message), 'words', message);
  }),
  it('details.fields', '`details`: an array of failing fields', async (w) => {
    const changes = { amount: 'x', description: 7, customer: { ...CUSTOMER, email: 'x' } };
    const details = ['amount', 'customer.email', 'description'];
    refused(await postCharge(w.own, aChargeBody(changes)), { status: 400, details });
  }),
  it.admin('details.scopes', '`details`: an array of required scopes', async (w) => {
    const key = await w.once('key to read the account', () => accountKey(w));
    const answer = await key.call('GET /v1/balance');
    refused(answer, { status: 403, details: ['balance:read'] });
  }),
  it('status.200', '200: read succeeded', async (w) => {
    bodyWith(await w.own.call('GET /v1/balance'), 200);
  }),
  it('status.201', '201: resource created', async (w) => {
    bodyWith(await postCharge(w.own, aChargeBody()), 201);
  }),
  it('status.204', '204: removed, no body', async (w) => {
    const { id } = await createEndpoint(w.own, { url: endpointUrl(w) });
    const answer = await w.own.call(`DELETE /v1/webhooks/${id}`);
    equal([answer.status, answer.text], [204, ''], 'status and body');
  }),
  it('status.400', '400: invalid payload or business rule refused', async (w) => {
    refused(await postCharge(w.own, []), { status: 400 });
    refused(await postCharge(w.own, aChargeBody({ amount: 1 })), { status: 400 });
  }),
  it('status.401', '401: key missing, invalid, expired or revoked', async (w) => {
    refused(await w.own.call('GET /v1/balance', { key: 'invalid' }), { status: 401 });
  }),
  it.admin('status.403', '403: key lacks the required scope', async (w) => {
    const key = await w.once('key to read the account', () => accountKey(w));
    refused(await key.call('GET /v1/balance'), { status: 403 });
  }),
  it.admin('code.INSUFFICIENT_SCOPE', '`INSUFFICIENT_SCOPE` 403: scope missing', async (w) => {
    const key = await w.once('key to read the account', () => accountKey(w));
    const answer = await key.call('GET /v1/charges');
    const details = ['charge:read'];
    refused(answer, { status: 403, code: 'INSUFFICIENT_SCOPE', details });
  }),
  it.admin('code.PAYOUTS_DISABLED', '`PAYOUTS_DISABLED` 422: payouts disabled', async (w) => {
    const merchant = await w.admin.createAccount({
      onboarding_status: 'approved',
      payouts_enabled: false,
    });
    const answer = await postPayout(merchant, aPayoutBody());
    refused(answer, { status: 422, code: 'PAYOUTS_DISABLED' });
  }),
  it.admin('status.404-own', '404: exists, but not in this account', async (w) => {
    const stranger = await w.admin.createAccount();
    const answer = await stranger.call(`GET /v1/charges/${(await bareCharge(w)).id}`);
    refused(answer, { status: 404 });
  }),
  it('status.404', '404: resource does not exist in this account', async (w) => {
    refused(await w.own.call(`GET /v1/charges/${randomUUID()}`), { status: 404 });
  }),
  it('status.422', '422: acquirer or platform refused the operation', async (w) => {
    const body = aChargeBody({ webhook_url: 'http://localhost/' });
    refused(await postCharge(w.own, body), { status: 422 });
  }),
  ...codeCases(),
  faulty('code.ACQUIRER_REJECTED', '`ACQUIRER_REJECTED` 422 with `charge_id`', async (w) => {
    const { answer } = await refusedCharge(w);
    const body = refused(answer, { status: 422, code: 'ACQUIRER_REJECTED' });
    const charge = await readCharge(w.own, body.charge_id ?? '');
    equal(charge.status, 'failed', 'the status of the charge that is named');
  }),
  faulty('code.INTERNAL_ERROR', '`INTERNAL_ERROR` 500: unexpected failure', async (w) => {
    const { first } = await failedCall(w);
    refused(first, { status: 500, code: 'INTERNAL_ERROR' });
  }),
  faulty('status.500', '500: may be retried with the same idempotency key', async (w) => {
    const { key, second } = await failedCall(w);
    holds(key.length > 0, 'the same key', key);
    bodyWith(second, 201);
  }),
  faulty('rule.repeat', 'On `500`, repeat the whole call with the same key: it ends', async (w) => {
    const { second } = await failedCall(w);
    const { id } = shaped(Charge, bodyWith(second, 201), 'the charge');
    await until(async () => {
      equal((await readCharge(w.own, id)).status, 'pending', 'status');
    }, READ_BACK_MS_MAX);
  }),
  it('rule.no-use', 'On other `4xx`, repeating without correction does not help', async (w) => {
    const key = randomUUID();
    const body = aChargeBody({ amount: 1 });
    const refusal = { status: 400, code: 'AMOUNT_BELOW_MINIMUM' };
    for (let call = 0; call < 2; call += 1) refused(await postCharge(w.own, body, key), refusal);
  }),
  unobservable(
    'rule.429',
    'A future `429` will use the same error format',
    'v1 applies no numeric limit, so no `429` can be provoked',
  ),
  it('rule.outside-the-catalog', 'a name outside the catalog: status `422`', async (w) => {
    const body = { url: endpointUrl(w), events: ['charge.paid'] };
    const answer = await w.own.call('POST /v1/webhooks', { body });
    refused(answer, { status: 422 });
  }),
  it('known-statuses', 'no answer has a status outside the table', async (w) => {
    const known = [200, 201, 204, 400, 401, 403, 404, 422, 500];
    for (const [, , provoke] of PROVOKED) oneOf((await provoke(w)).status, known, 'status');
  }),
]);

function accountKey(w: World): Promise<Merchant> {
  return w.admin.createKey(w.own, { scopes: ['account:read'] });
}

/** A creation whose issuance broke once, and its repetition. */
function failedCall(w: World): Promise<{ key: string; first: Answer; second: Answer }> {
  return w.once('failed call', async () => {
    const [key, body] = [randomUUID(), aChargeBody({ reference: 'broken' })];
    const rule = { operation: 'issueCharge', fault: 'error_before', count: 1 };
    const first = await w.simulator.withFaults([rule], () => postCharge(w.own, body, key));
    return { key, first, second: await postCharge(w.own, body, key) };
  });
}
