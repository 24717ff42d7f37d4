import { randomUUID } from 'node:crypto';

import { equal, holds, shaped } from '../client/expectations.ts';
import { Charge, CHARGE_STATUSES } from '../client/schemas.ts';
import { it, section } from '../suite/case.ts';
import { bodyWith } from '../world/api-client.ts';
import { checkoutCharge } from '../world/charge-lives.ts';
import { includes } from '../world/collection.ts';
import { bareCharge, fourOf, fullCharge, paidCharge } from '../world/fixtures.ts';
import { refused } from '../world/refusals.ts';
import { listCases } from './list-cases.ts';

export const READ_CHARGE_CASES = section('read-charge', [
  it('read', 'Response `200`: charge object', async (w) => {
    const { id } = await bareCharge(w);
    const answer = await w.own.call(`GET /v1/charges/${id}`);
    equal(shaped(Charge, bodyWith(answer, 200), 'the charge').id, id, 'id');
  }),
  it('missing', '`404` `CHARGE_NOT_FOUND` when missing', async (w) => {
    refused(await w.own.call(`GET /v1/charges/${randomUUID()}`), 'CHARGE_NOT_FOUND');
  }),
  it('no-uuid', 'Path `id`: uuid; anything else is not found', async (w) => {
    refused(await w.own.call('GET /v1/charges/77'), 'CHARGE_NOT_FOUND');
  }),
  it.admin('foreign', '`404` `CHARGE_NOT_FOUND` when belonging to another account', async (w) => {
    const stranger = await w.admin.createAccount();
    refused(await stranger.call(`GET /v1/charges/${(await bareCharge(w)).id}`), 'CHARGE_NOT_FOUND');
  }),
  it.admin('foreign-same-as-missing', 'a foreign id answers like an unknown one', async (w) => {
    const stranger = await w.admin.createAccount();
    const foreign = await stranger.call(`GET /v1/charges/${(await bareCharge(w)).id}`);
    const unknown = await stranger.call(`GET /v1/charges/${randomUUID()}`);
    equal(foreign.text, unknown.text, 'the body');
  }),
  it.admin('checkout', '`404` `CHARGE_NOT_FOUND` when created outside the API', async (w) => {
    const { merchant, id } = await checkoutCharge(w);
    refused(await merchant.call(`GET /v1/charges/${id}`), 'CHARGE_NOT_FOUND');
  }),
]);

const { statusCases, badFilter, createdCase } = listCases('charges');

export const LIST_CHARGES_CASES = section('list-charges', [
  it('envelope', 'Response `200`: list envelope with charge items', async (w) => {
    const { charge } = await fullCharge(w);
    holds((await w.own.charges.list('limit=1')).data.length === 1, 'an item', charge.id);
  }),
  ...statusCases(CHARGE_STATUSES),
  it('status.finds', '`status`: `pending` finds a pending charge', async (w) => {
    const { merchant, items } = await fourOf(w, 'charges');
    const { data } = await merchant.charges.list('status=pending&limit=100');
    for (const { id } of items) includes(data, id);
  }),
  it.simulator('status.finds-paid', '`status`: `paid` finds a paid charge', async (w) => {
    const { id } = await paidCharge(w);
    includes((await w.own.charges.list('status=paid&limit=100')).data, id);
  }),
  badFilter('status', 'payed'),
  it('method', '`method`: payment method filter', async (w) => {
    const { merchant } = await fourOf(w, 'charges');
    holds((await merchant.charges.list('method=pix')).data.length >= 4, 'Pix charges', 'fewer');
    equal((await merchant.charges.list('method=boleto')).data, [], 'boleto charges');
  }),
  createdCase('created_after', 'only charges created after this instant', it),
  createdCase('created_before', 'only charges created before this instant', it),
  badFilter('created_after', 'yesterday'),
  badFilter('created_before', '2026-13-01T00:00:00Z'),
  it('filters-together', 'filters hold together', async (w) => {
    const { merchant, items } = await fourOf(w, 'charges');
    const filters = `status=pending&method=pix&created_after=${items[3]?.created_at}&limit=1`;
    const query = `${filters}&starting_after=${items[0]?.id}`;
    const ids = (await merchant.charges.list(query)).data.map(({ id }) => id);
    equal(ids, [items[1]?.id], 'the second of the four');
  }),
]);
