import { randomUUID } from 'node:crypto';

import {
  pageOf,
  Payout,
  PAYOUT_STATUSES,
  type Payout as PayoutResource,
} from '../client/schemas.ts';
import { type ObservedCase, section, it, staged } from '../suite/case.ts';
import { equal, holds, shaped } from '../client/expectations.ts';
import { idsOf } from '../world/admin.ts';
import {
  barePayout,
  canceledPayout,
  completedPayout,
  fourPayouts,
  manualMerchant,
  readAccount,
  readBalance,
} from '../world/fixtures.ts';
import {
  aPayoutBody,
  bodyWith,
  createPayout,
  type Merchant,
  postPayout,
  readPayout,
} from '../world/merchant.ts';
import { refused, type Refusal } from '../world/refusals.ts';
import { FEE_CENTS, PAYING_ACCOUNT } from '../world/world.ts';
import { PRIVATE_URLS, shapeFault } from './field-faults.ts';

function accepts(id: string, sentence: string, changes: object): ObservedCase {
  const one = it(id, sentence, async (w) => {
    bodyWith(await postPayout(w.own, aPayoutBody(changes)), 201);
  });
  return { ...one, needs: ['funds'] };
}

function refuses(
  id: string,
  sentence: string,
  [changes, refusal]: readonly [object, Refusal],
): ObservedCase {
  return it(id, sentence, async (w) => {
    refused(await postPayout(w.own, aPayoutBody(changes)), refusal);
  });
}

const BELOW: Refusal = { status: 400, code: 'AMOUNT_BELOW_MINIMUM' };
const NO_METHOD: Refusal = { status: 400, code: 'METHOD_NOT_SUPPORTED' };
const NO_URL: Refusal = { status: 422, code: 'INVALID_WEBHOOK_URL' };
const DISABLED: Refusal = { status: 422, code: 'PAYOUTS_DISABLED' };
const NO_BALANCE: Refusal = { status: 400, code: 'INSUFFICIENT_BALANCE' };

const PIX_KEYS = [
  ['cpf', '52998224725'],
  ['cnpj', '11.222.333/0001-81'],
  ['email', 'joao.lima@example.com'],
  ['phone', '+5511999990000'],
  ['random', '123e4567-e89b-42d3-a456-426614174000'],
] as const;

export const CREATE_PAYOUT_CASES = section('create-payout', [
  refuses('amount.required', '`amount`: required', [{ amount: undefined }, shapeFault('amount')]),
  refuses('amount.string', '`amount`: integer, no text', [{ amount: '700' }, shapeFault('amount')]),
  refuses('amount.fraction', '`amount`: integer (cents)', [
    { amount: 700.5 },
    shapeFault('amount'),
  ]),
  accepts('amount.minimum', '`amount`: minimum 500', { amount: 500 }),
  refuses('amount.below', '`amount`: 499 is below the minimum', [{ amount: 499 }, BELOW]),
  refuses('amount.zero', '`amount`: 0 is below the minimum', [{ amount: 0 }, BELOW]),
  refuses('amount.negative', '`amount`: a negative one is below it', [{ amount: -700 }, BELOW]),
  refuses('pix_key_type.required', '`pix_key_type`: required', [
    { pix_key_type: undefined },
    shapeFault('pix_key_type'),
  ]),
  ...PIX_KEYS.map(([pix_key_type, pix_key]) =>
    accepts(`pix_key_type.${pix_key_type}`, `\`pix_key_type\`: \`${pix_key_type}\``, {
      pix_key_type,
      pix_key,
    }),
  ),
  refuses('pix_key_type.other', '`pix_key_type`: nothing but these five', [
    { pix_key_type: 'evp' },
    shapeFault('pix_key_type'),
  ]),
  refuses('pix_key.required', '`pix_key`: required', [
    { pix_key: undefined },
    shapeFault('pix_key'),
  ]),
  refuses('pix_key.string', '`pix_key`: string', [{ pix_key: 7 }, shapeFault('pix_key')]),
  refuses('pix_key.of-its-type', '`pix_key`: receiving key, of its type', [
    { pix_key_type: 'cpf', pix_key: 'joao@example.com' },
    shapeFault('pix_key'),
  ]),
  accepts('method.pix', '`method`: `pix`', { method: 'pix' }),
  it.funds('method.default', '`method`: default `pix`', async (w) =>
    equal((await barePayout(w)).method, 'pix', 'method'),
  ),
  it.funds('recipient_name', '`recipient_name`: may be given', async (w) => {
    const payout = await createPayout(w.own, { recipient_name: 'João Lima' });
    equal(payout.recipient.name, 'João Lima', 'recipient.name');
  }),
  it.funds('reference', '`reference`: may be given, comes back verbatim', async (w) => {
    const reference = `Nº 7/${randomUUID()}`;
    equal((await createPayout(w.own, { reference })).reference, reference, 'reference');
  }),
  it.funds('description', '`description`: may be given, comes back', async (w) =>
    equal((await createPayout(w.own, { description: 'Repasse' })).description, 'Repasse', 'it'),
  ),
  ...['ted', 'boleto'].map((method) =>
    refuses(`method.not-${method}`, `\`method\`: only \`pix\`, not \`${method}\``, [
      { method },
      NO_METHOD,
    ]),
  ),
  refuses('recipient_name.string', '`recipient_name`: string', [
    { recipient_name: 7 },
    shapeFault('recipient_name'),
  ]),
  accepts('recipient_document.cpf', '`recipient_document`: CPF', {
    recipient_document: '529.982.247-25',
  }),
  accepts('recipient_document.cnpj', '`recipient_document`: CNPJ', {
    recipient_document: '11222333000181',
  }),
  it('recipient_document.invalid', '`recipient_document`: CPF or CNPJ, nothing else', async (w) => {
    const body = aPayoutBody({ recipient_document: '529.982.247-26' });
    refused(await postPayout(w.own, body), shapeFault('recipient_document'));
  }),
  refuses('description.string', '`description`: string', [
    { description: 7 },
    shapeFault('description'),
  ]),
  refuses('reference.string', '`reference`: string', [{ reference: 7 }, shapeFault('reference')]),
  ...['http', 'https'].map((scheme) =>
    accepts(`webhook_url.${scheme}`, '`webhook_url`: http or https', {
      webhook_url: `${scheme}://hooks.receiver.example.com/conformance`,
    }),
  ),
  ...PRIVATE_URLS.map(([id, webhook_url]) =>
    refuses(`webhook_url.not-${id}`, `\`webhook_url\`: http(s), public host; not ${webhook_url}`, [
      { webhook_url },
      NO_URL,
    ]),
  ),
  refuses('webhook_url.string', '`webhook_url`: string', [
    { webhook_url: 7 },
    shapeFault('webhook_url'),
  ]),
  accepts('webhook_secret', '`webhook_secret`: may be given', {
    webhook_url: 'https://hooks.receiver.example.com/conformance',
    webhook_secret: 'segredo',
  }),
  refuses('webhook_secret.string', '`webhook_secret`: string', [
    { webhook_secret: 7 },
    shapeFault('webhook_secret'),
  ]),
  it.funds('created', 'Response `201`: payout object', async (w) => {
    const answer = await postPayout(w.own, aPayoutBody());
    shaped(Payout, bodyWith(answer, 201), 'the body of the 201');
  }),
  it.funds('processing', '`status` is `processing` (auto payout on)', async (w) => {
    equal((await readAccount(w.own)).auto_payout_enabled, true, 'auto_payout_enabled');
    equal((await createPayout(w.own)).status, 'processing', 'status in the 201');
  }),
  it('insufficient', '`400` `INSUFFICIENT_BALANCE`', async (w) => {
    const { available } = await readBalance(w.own);
    const body = aPayoutBody({ amount: Math.max(available, 0) + 90_000_000_000 });
    refused(await postPayout(w.own, body), NO_BALANCE);
  }),
  staged('pending', '`status` is `pending` (auto payout off)', async (w) => {
    const merchant = await manualMerchant(w);
    equal((await createPayout(merchant)).status, 'pending', 'status in the 201');
  }),
  staged('insufficient-fee', 'balance lower than amount plus fee is refused', async (w) => {
    const merchant = await w.admin.createAccount(PAYING_ACCOUNT);
    await w.fund(merchant, 1_000);
    const amount = 1_000 - FEE_CENTS;
    refused(await postPayout(merchant, aPayoutBody({ amount: amount + 1 })), NO_BALANCE);
    bodyWith(await postPayout(merchant, aPayoutBody({ amount })), 201);
  }),
  staged('insufficient-leaves', 'a payout that was refused takes nothing', async (w) => {
    const merchant = await w.admin.createAccount(PAYING_ACCOUNT);
    await w.fund(merchant, 1_000);
    refused(await postPayout(merchant, aPayoutBody({ amount: 5_000 })), NO_BALANCE);
    equal((await readBalance(merchant)).available, 1_000, 'available');
  }),
  it.admin('disabled', '`422` `PAYOUTS_DISABLED`: disabled by the administrator', async (w) => {
    const settings = { ...PAYING_ACCOUNT, payouts_enabled: false };
    const merchant = await w.admin.createAccount(settings);
    refused(await postPayout(merchant, aPayoutBody()), DISABLED);
  }),
  it.admin('enabled-again', '`PAYOUTS_DISABLED` holds until enabled', async (w) => {
    const settings = { ...PAYING_ACCOUNT, payouts_enabled: false };
    const merchant = await w.admin.createAccount(settings);
    refused(await postPayout(merchant, aPayoutBody()), DISABLED);
    const path = `/admin/accounts/${idsOf(merchant).accountId}`;
    await w.admin.call(`PATCH ${path}`, { body: { payouts_enabled: true } });
    refused(await postPayout(merchant, aPayoutBody()), NO_BALANCE);
  }),
]);

const NOT_FOUND: Refusal = { status: 404, code: 'PAYOUT_NOT_FOUND' };

export const READ_PAYOUT_CASES = section('read-payout', [
  it.funds('read', 'Response `200`: payout object', async (w) => {
    const { id, reference } = await barePayout(w);
    equal((await readPayout(w.own, id)).reference, reference, 'reference');
  }),
  it('missing', '`404` `PAYOUT_NOT_FOUND`', async (w) => {
    refused(await w.own.call(`GET /v1/payouts/${randomUUID()}`), NOT_FOUND);
  }),
  it('no-uuid', 'an id that is no uuid is not found', async (w) => {
    refused(await w.own.call('GET /v1/payouts/77'), NOT_FOUND);
  }),
  it.admin.funds('foreign', '`404` `PAYOUT_NOT_FOUND`: of another account', async (w) => {
    const stranger = await w.admin.createAccount();
    refused(await stranger.call(`GET /v1/payouts/${(await barePayout(w)).id}`), NOT_FOUND);
  }),
]);

async function listItems(merchant: Merchant, query: string): Promise<PayoutResource[]> {
  const body = bodyWith(await merchant.call(`GET /v1/payouts?${query}`), 200);
  return shaped(pageOf(Payout), body, 'the list').data;
}

function badFilter(name: string, value: string): ObservedCase {
  return it(`${name}.not-${value}`, `\`${name}\`: "${value}" is refused`, async (w) => {
    refused(await w.own.call(`GET /v1/payouts?${name}=${value}`), shapeFault(name));
  });
}

export const LIST_PAYOUTS_CASES = section('list-payouts', [
  it('envelope', 'Response `200`: list envelope with payout items', async (w) => {
    await listItems(w.own, 'limit=1');
  }),
  ...PAYOUT_STATUSES.map((status) =>
    it(`status.${status}`, `\`status\`: \`${status}\` gives payouts of this status`, async (w) => {
      const items = await listItems(w.own, `status=${status}&limit=100`);
      equal(
        items.filter((item) => item.status !== status),
        [],
        'items of another status',
      );
    }),
  ),
  it.funds('status.finds', '`status`: `completed` finds a completed payout', async (w) => {
    const { id } = await completedPayout(w);
    const items = await listItems(w.own, 'status=completed&limit=100');
    holds(
      items.some((item) => item.id === id),
      'it is in the list',
      id,
    );
  }),
  it.funds('method.pix', '`method`: `pix`', async (w) => {
    const { merchant } = await fourPayouts(w);
    holds((await listItems(merchant, 'method=pix')).length >= 4, 'Pix payouts', 'fewer');
  }),
  it.funds('created_after', '`created_after`: only payouts created after it', async (w) => {
    const { merchant, payouts } = await fourPayouts(w);
    const after = payouts[1]?.created_at ?? '';
    const items = await listItems(merchant, `created_after=${after}&limit=100`);
    equal(
      items.filter(({ created_at }) => created_at <= after),
      [],
      'payouts not after it',
    );
    holds(
      items.some(({ id }) => id === payouts[0]?.id),
      'the newer one',
      items.length,
    );
  }),
  it.funds('created_before', '`created_before`: only payouts created before it', async (w) => {
    const { merchant, payouts } = await fourPayouts(w);
    const before = payouts[1]?.created_at ?? '';
    const items = await listItems(merchant, `created_before=${before}&limit=100`);
    equal(
      items.filter(({ created_at }) => created_at >= before),
      [],
      'payouts not before',
    );
    holds(
      items.some(({ id }) => id === payouts[2]?.id),
      'the older one',
      items.length,
    );
  }),
  it('method.ted', '`method`: `ted`', async (w) => {
    for (const { method } of await listItems(w.own, 'method=ted')) equal(method, 'ted', 'method');
  }),
  badFilter('method', 'boleto'),
  badFilter('status', 'paid'),
  badFilter('created_after', 'yesterday'),
  badFilter('created_before', '2026-02-30'),
  staged('status.finds-canceled', '`status`: `canceled` finds a canceled payout', async (w) => {
    const { merchant, ended } = await canceledPayout(w);
    equal(await listItems(merchant, 'status=canceled'), [ended], 'canceled payouts');
  }),
  staged('dashboard', 'Includes payouts requested through the dashboard', async (w) => {
    const merchant = await manualMerchant(w);
    const path = `/admin/accounts/${idsOf(merchant).accountId}/payouts`;
    const made = await w.admin.call(`POST ${path}`, {
      body: aPayoutBody({ reference: 'dashboard' }),
      status: 201,
    });
    const { id } = shaped(Payout.pick({ id: true }), made, 'the payout of the dashboard');
    const items = await listItems(merchant, 'limit=100');
    holds(
      items.some((item) => item.id === id),
      'it is in the list',
      id,
    );
    equal((await readPayout(merchant, id)).id, id, 'and can be read');
  }),
]);
