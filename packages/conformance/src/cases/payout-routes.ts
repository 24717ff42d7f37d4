import { randomUUID } from 'node:crypto';

import { equal, holds, shaped } from '../client/expectations.ts';
import { Payout, PAYOUT_STATUSES } from '../client/schemas.ts';
import { it, section, staged } from '../suite/case.ts';
import { bodyWith } from '../world/api-client.ts';
import { includes } from '../world/collection.ts';
import {
  barePayout,
  canceledPayout,
  completedPayout,
  fourOf,
  manualMerchant,
  requestPayout,
} from '../world/fixtures.ts';
import { refused } from '../world/refusals.ts';
import { FEE_CENTS, fundedMerchant, PAYING_ACCOUNT } from '../world/world.ts';
import { bodyCases } from './body-cases.ts';
import { listCases } from './list-cases.ts';

const { accepts, refuses, misshapen, webhookCases } = bodyCases(
  (w, changes) => w.own.payouts.post(changes),
  it.funds,
);

const PIX_KEYS = {
  cpf: '52998224725',
  cnpj: '11.222.333/0001-81',
  email: 'joao.lima@example.com',
  phone: '+5511999990000',
  random: '123e4567-e89b-42d3-a456-426614174000',
};

export const CREATE_PAYOUT_CASES = section('create-payout', [
  misshapen('amount.required', 'required', undefined),
  misshapen('amount.string', 'integer, no text', '700'),
  misshapen('amount.fraction', 'integer (cents)', 700.5),
  accepts('amount.minimum', 'minimum 500', 500),
  refuses('amount.below', '499 is below the minimum', [499, 'AMOUNT_BELOW_MINIMUM']),
  refuses('amount.zero', '0 is below the minimum', [0, 'AMOUNT_BELOW_MINIMUM']),
  refuses('amount.negative', 'a negative one is below it', [-700, 'AMOUNT_BELOW_MINIMUM']),
  misshapen('pix_key_type.required', 'required', undefined),
  ...Object.entries(PIX_KEYS).map(([pix_key_type, pix_key]) =>
    it.funds(`pix_key_type.${pix_key_type}`, `\`pix_key_type\`: \`${pix_key_type}\``, async (w) => {
      bodyWith(await w.own.payouts.post({ pix_key_type, pix_key }), 201);
    }),
  ),
  misshapen('pix_key_type.other', 'nothing but these five', 'evp'),
  misshapen('pix_key.required', 'required', undefined),
  misshapen('pix_key.string', 'string', 7),
  it('pix_key.of-its-type', '`pix_key`: receiving key, of its type', async (w) => {
    const body = { pix_key_type: 'cpf', pix_key: 'joao@example.com' };
    refused(await w.own.payouts.post(body), 'VALIDATION_ERROR', ['pix_key']);
  }),
  accepts('method.pix', '`pix`', 'pix'),
  it.funds('method.default', '`method`: default `pix`', async (w) =>
    equal((await barePayout(w)).method, 'pix', 'method'),
  ),
  it.funds('recipient_name', '`recipient_name`: may be given', async (w) => {
    const payout = await w.own.payouts.create({ recipient_name: 'João Lima' });
    equal(payout.recipient.name, 'João Lima', 'recipient.name');
  }),
  it.funds('reference', '`reference`: may be given, comes back verbatim', async (w) => {
    const reference = `Nº 7/${randomUUID()}`;
    equal((await w.own.payouts.create({ reference })).reference, reference, 'reference');
  }),
  it.funds('description', '`description`: may be given, comes back', async (w) =>
    equal((await w.own.payouts.create({ description: 'Repasse' })).description, 'Repasse', 'it'),
  ),
  ...['ted', 'boleto'].map((method) =>
    refuses(`method.not-${method}`, `only \`pix\`, not \`${method}\``, [
      method,
      'METHOD_NOT_SUPPORTED',
    ]),
  ),
  misshapen('recipient_name.string', 'string', 7),
  accepts('recipient_document.cpf', 'CPF', '529.982.247-25'),
  accepts('recipient_document.cnpj', 'CNPJ', '11222333000181'),
  misshapen('recipient_document.invalid', 'CPF or CNPJ, nothing else', '529.982.247-26'),
  misshapen('description.string', 'string', 7),
  misshapen('reference.string', 'string', 7),
  ...webhookCases,
  it.funds('created', 'Response `201`: payout object', async (w) => {
    shaped(Payout, bodyWith(await w.own.payouts.post(), 201), 'the body of the 201');
  }),
  it.funds('processing', '`status` is `processing` (auto payout on)', async (w) => {
    equal((await w.own.account()).auto_payout_enabled, true, 'auto_payout_enabled');
    equal((await w.own.payouts.create()).status, 'processing', 'status in the 201');
  }),
  it('insufficient', '`400` `INSUFFICIENT_BALANCE`', async (w) => {
    const { available } = await w.own.balance();
    const body = { amount: Math.max(available, 0) + 90_000_000_000 };
    refused(await w.own.payouts.post(body), 'INSUFFICIENT_BALANCE');
  }),
  staged('pending', '`status` is `pending` (auto payout off)', async (w) => {
    const merchant = await manualMerchant(w);
    equal((await merchant.payouts.create()).status, 'pending', 'status in the 201');
  }),
  staged('insufficient-fee', 'balance lower than amount plus fee is refused', async (w) => {
    const merchant = await fundedMerchant(w, 1_000);
    const amount = 1_000 - FEE_CENTS;
    refused(await merchant.payouts.post({ amount: amount + 1 }), 'INSUFFICIENT_BALANCE');
    bodyWith(await merchant.payouts.post({ amount }), 201);
  }),
  staged('insufficient-leaves', 'a payout that was refused takes nothing', async (w) => {
    const merchant = await fundedMerchant(w, 1_000);
    refused(await merchant.payouts.post({ amount: 5_000 }), 'INSUFFICIENT_BALANCE');
    equal((await merchant.balance()).available, 1_000, 'available');
  }),
  it.admin('disabled', '`422` `PAYOUTS_DISABLED`: disabled by the administrator', async (w) => {
    const settings = { ...PAYING_ACCOUNT, payouts_enabled: false };
    const merchant = await w.admin.createAccount(settings);
    refused(await merchant.payouts.post(), 'PAYOUTS_DISABLED');
  }),
  it.admin('enabled-again', '`PAYOUTS_DISABLED` holds until enabled', async (w) => {
    const settings = { ...PAYING_ACCOUNT, payouts_enabled: false };
    const merchant = await w.admin.createAccount(settings);
    refused(await merchant.payouts.post(), 'PAYOUTS_DISABLED');
    const path = `/admin/accounts/${merchant.ids.accountId}`;
    await w.admin.call(`PATCH ${path}`, { body: { payouts_enabled: true } });
    refused(await merchant.payouts.post(), 'INSUFFICIENT_BALANCE');
  }),
]);

export const READ_PAYOUT_CASES = section('read-payout', [
  it.funds('read', 'Response `200`: payout object', async (w) => {
    const { id, reference } = await barePayout(w);
    equal((await w.own.payouts.read(id)).reference, reference, 'reference');
  }),
  it('missing', '`404` `PAYOUT_NOT_FOUND`', async (w) => {
    refused(await w.own.call(`GET /v1/payouts/${randomUUID()}`), 'PAYOUT_NOT_FOUND');
  }),
  it('no-uuid', 'an id that is no uuid is not found', async (w) => {
    refused(await w.own.call('GET /v1/payouts/77'), 'PAYOUT_NOT_FOUND');
  }),
  it.admin.funds('foreign', '`404` `PAYOUT_NOT_FOUND`: of another account', async (w) => {
    const stranger = await w.admin.createAccount();
    refused(await stranger.call(`GET /v1/payouts/${(await barePayout(w)).id}`), 'PAYOUT_NOT_FOUND');
  }),
]);

const { statusCases, badFilter, createdCase } = listCases('payouts');

export const LIST_PAYOUTS_CASES = section('list-payouts', [
  it('envelope', 'Response `200`: list envelope with payout items', async (w) => {
    await w.own.payouts.list('limit=1');
  }),
  ...statusCases(PAYOUT_STATUSES),
  it.funds('status.finds', '`status`: `completed` finds a completed payout', async (w) => {
    const { id } = await completedPayout(w);
    includes((await w.own.payouts.list('status=completed&limit=100')).data, id);
  }),
  it.funds('method.pix', '`method`: `pix`', async (w) => {
    const { merchant } = await fourOf(w, 'payouts');
    holds((await merchant.payouts.list('method=pix')).data.length >= 4, 'Pix payouts', 'fewer');
  }),
  createdCase('created_after', 'only payouts created after it', it.funds),
  createdCase('created_before', 'only payouts created before it', it.funds),
  it('method.ted', '`method`: `ted`', async (w) => {
    const { data } = await w.own.payouts.list('method=ted');
    for (const { method } of data) equal(method, 'ted', 'method');
  }),
  badFilter('method', 'boleto'),
  badFilter('status', 'paid'),
  badFilter('created_after', 'yesterday'),
  badFilter('created_before', '2026-02-30'),
  staged('status.finds-canceled', '`status`: `canceled` finds a canceled payout', async (w) => {
    const { merchant, ended } = await canceledPayout(w);
    const { data } = await merchant.payouts.list('status=canceled');
    equal(data, [ended], 'canceled payouts');
  }),
  staged('dashboard', 'Includes payouts requested through the dashboard', async (w) => {
    const merchant = await manualMerchant(w);
    const id = await requestPayout(w, merchant, { reference: 'dashboard' });
    includes((await merchant.payouts.list('limit=100')).data, id);
    equal((await merchant.payouts.read(id)).id, id, 'and can be read');
  }),
]);
