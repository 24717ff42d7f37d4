import { randomUUID } from 'node:crypto';

import {
  Charge,
  CHARGE_STATUSES,
  ChargeItem,
  type ChargeItem as Item,
  pageOf,
} from '../client/schemas.ts';
import { type ObservedCase, section, it } from '../suite/case.ts';
import { equal, holds, shaped } from '../client/expectations.ts';
import { checkoutCharge } from '../world/charge-lives.ts';
import { bareCharge, fourCharges, fullCharge, paidCharge } from '../world/fixtures.ts';
import { bodyWith, type Merchant } from '../world/merchant.ts';
import { refused, type Refusal } from '../world/refusals.ts';
import { shapeFault } from './field-faults.ts';

const NOT_FOUND: Refusal = { status: 404, code: 'CHARGE_NOT_FOUND' };

export const READ_CHARGE_CASES = section('read-charge', [
  it('read', 'Response `200`: charge object', async (w) => {
    const { id } = await bareCharge(w);
    const answer = await w.own.call(`GET /v1/charges/${id}`);
    equal(shaped(Charge, bodyWith(answer, 200), 'the charge').id, id, 'id');
  }),
  it('missing', '`404` `CHARGE_NOT_FOUND` when missing', async (w) => {
    refused(await w.own.call(`GET /v1/charges/${randomUUID()}`), NOT_FOUND);
  }),
  it('no-uuid', 'Path `id`: uuid; anything else is not found', async (w) => {
    refused(await w.own.call('GET /v1/charges/77'), NOT_FOUND);
  }),
  it.admin('foreign', '`404` `CHARGE_NOT_FOUND` when belonging to another account', async (w) => {
    const stranger = await w.admin.createAccount();
    refused(await stranger.call(`GET /v1/charges/${(await bareCharge(w)).id}`), NOT_FOUND);
  }),
  it.admin('foreign-same-as-missing', 'a foreign id answers like an unknown one', async (w) => {
    const stranger = await w.admin.createAccount();
    const foreign = await stranger.call(`GET /v1/charges/${(await bareCharge(w)).id}`);
    const unknown = await stranger.call(`GET /v1/charges/${randomUUID()}`);
    equal(foreign.text, unknown.text, 'the body');
  }),
  it.admin('checkout', '`404` `CHARGE_NOT_FOUND` when created outside the API', async (w) => {
    const { merchant, id } = await checkoutCharge(w);
    refused(await merchant.call(`GET /v1/charges/${id}`), NOT_FOUND);
  }),
]);

async function listItems(merchant: Merchant, query: string): Promise<Item[]> {
  const body = bodyWith(await merchant.call(`GET /v1/charges?${query}`), 200);
  return shaped(pageOf(ChargeItem), body, 'the list').data;
}

function badFilter(name: string, value: string): ObservedCase {
  return it(`${name}.not-${value}`, `\`${name}\`: "${value}" is refused`, async (w) => {
    const answer = await w.own.call(`GET /v1/charges?${name}=${value}`);
    refused(answer, shapeFault(name));
  });
}

export const LIST_CHARGES_CASES = section('list-charges', [
  it('envelope', 'Response `200`: list envelope with charge items', async (w) => {
    const { charge } = await fullCharge(w);
    holds((await listItems(w.own, 'limit=1')).length === 1, 'an item', charge.id);
  }),
  ...CHARGE_STATUSES.map((status) =>
    it(`status.${status}`, `\`status\`: \`${status}\` gives charges of this status`, async (w) => {
      const items = await listItems(w.own, `status=${status}&limit=100`);
      equal(
        items.filter((item) => item.status !== status),
        [],
        'items of another status',
      );
    }),
  ),
  it('status.finds', '`status`: `pending` finds a pending charge', async (w) => {
    const { merchant, charges } = await fourCharges(w);
    const items = await listItems(merchant, 'status=pending&limit=100');
    const ids = new Set(items.map(({ id }) => id));
    equal(
      charges.every(({ id }) => ids.has(id)),
      true,
      'all pending charges are found',
    );
  }),
  it.simulator('status.finds-paid', '`status`: `paid` finds a paid charge', async (w) => {
    const { id } = await paidCharge(w);
    const items = await listItems(w.own, 'status=paid&limit=100');
    holds(
      items.some((item) => item.id === id),
      'it is in the list',
      id,
    );
  }),
  badFilter('status', 'payed'),
  it('method', '`method`: payment method filter', async (w) => {
    const { merchant } = await fourCharges(w);
    holds((await listItems(merchant, 'method=pix')).length >= 4, 'Pix charges', 'fewer');
    equal(await listItems(merchant, 'method=boleto'), [], 'boleto charges');
  }),
  it('created_after', '`created_after`: only charges created after this instant', async (w) => {
    const { merchant, charges } = await fourCharges(w);
    const after = charges[1]?.created_at ?? '';
    const items = await listItems(merchant, `created_after=${after}&limit=100`);
    equal(
      items.filter(({ created_at }) => created_at <= after),
      [],
      'charges not after it',
    );
    holds(
      items.some(({ id }) => id === charges[0]?.id),
      'the newer one is there',
      items.length,
    );
  }),
  it('created_before', '`created_before`: only charges created before this instant', async (w) => {
    const { merchant, charges } = await fourCharges(w);
    const before = charges[1]?.created_at ?? '';
    const items = await listItems(merchant, `created_before=${before}&limit=100`);
    equal(
      items.filter(({ created_at }) => created_at >= before),
      [],
      'charges not before it',
    );
    holds(
      items.some(({ id }) => id === charges[2]?.id),
      'the older one is there',
      items.length,
    );
  }),
  badFilter('created_after', 'yesterday'),
  badFilter('created_before', '2026-13-01T00:00:00Z'),
  it('filters-together', 'filters hold together', async (w) => {
    const { merchant, charges } = await fourCharges(w);
    const query = `status=pending&method=pix&created_after=${charges[3]?.created_at}&limit=1`;
    const items = await listItems(merchant, `${query}&starting_after=${charges[0]?.id}`);
    equal(
      items.map(({ id }) => id),
      [charges[1]?.id],
      'the second of the four',
    );
  }),
]);
