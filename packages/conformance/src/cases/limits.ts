import { randomUUID } from 'node:crypto';
import { z } from 'zod';

import { equal, holds, oneOf, shaped } from '../client/expectations.ts';
import { Charge, CHARGE_STATUSES, listOf, Payout } from '../client/schemas.ts';
import { delivered, it, section, unobservable } from '../suite/case.ts';
import { bodyWith } from '../world/api-client.ts';
import {
  bareCharge,
  barePayout,
  catalog,
  deliveredCharge,
  deliveredPayout,
  fullCharge,
  refusedCharge,
  withEndpoint,
} from '../world/fixtures.ts';
import { refused } from '../world/refusals.ts';
import { until } from '../world/until.ts';

const BURST = 60;
const Requests = listOf(z.record(z.string(), z.unknown()));

export const LIMIT_CASES = section('limits', [
  it('rate', 'Request rate per key: no numeric limit applied in v1', async (w) => {
    const calls = Array.from({ length: BURST }, () => w.own.call('GET /v1/account'));
    for (const answer of await Promise.all(calls)) equal(answer.status, 200, 'status');
  }),
  it.admin('recorded', 'each request is recorded with key, route, status, duration', async (w) => {
    const key = await w.admin.createKey(w.own);
    bodyWith(await key.call('GET /v1/balance'), 200);
    await until(async () => {
      const found = await w.admin.call(`GET /admin/requests?key_id=${key.ids.keyId}`);
      const [row] = shaped(Requests, found, 'the requests of the key').data;
      holds(row !== undefined, 'a row', 0);
      equal([row?.['route'], row?.['status']], ['/v1/balance', 200], 'route and status');
      const duration = Object.entries(row ?? {}).find(([name]) => name.startsWith('duration'));
      equal(typeof duration?.[1], 'number', 'type of the duration');
    });
  }),
  it.admin('suspended', 'Abusive polling: a key may be suspended manually', async (w) => {
    const key = await w.admin.createKey(w.own);
    const path = `/admin/keys/${key.ids.keyId}`;
    await w.admin.call(`PATCH ${path}`, { body: { suspended: true } });
    refused(await key.call('GET /v1/balance'), 'UNAUTHORIZED');
    await w.admin.call(`PATCH ${path}`, { body: { suspended: false } });
    bodyWith(await key.call('GET /v1/balance'), 200);
  }),
  unobservable('future-rate', 'Future rate limit: answer `429`, same error format', 'not in v1'),
  unobservable(
    'polling',
    'Recommended polling: start at 30 seconds, growing intervals; prefer webhooks',
    'advice to the client',
  ),
  it('charge-amount', 'Charge `amount`: minimum 100 cents', async (w) => {
    refused(await w.own.charges.post({ amount: 99 }), 'AMOUNT_BELOW_MINIMUM');
    bodyWith(await w.own.charges.post({ amount: 100 }), 201);
  }),
  it('payout-amount-below', 'Payout `amount`: minimum 500 cents; 499 is refused', async (w) => {
    refused(await w.own.payouts.post({ amount: 499 }), 'AMOUNT_BELOW_MINIMUM');
  }),
  it.funds('payout-amount', 'Payout `amount`: minimum 500 cents; 500 is accepted', async (w) => {
    bodyWith(await w.own.payouts.post({ amount: 500 }), 201);
  }),
  it('description', '`description` of a charge: up to 140 characters', async (w) => {
    const longest = 'ç'.repeat(140);
    equal((await w.own.charges.create({ description: longest })).description, longest, 'it');
    const longer = { description: `${longest}ç` };
    refused(await w.own.charges.post(longer), 'VALIDATION_ERROR', ['description']);
  }),
  it('expires_in', '`expires_in`: 60 to 604800 seconds', async (w) => {
    for (const expires_in of [60, 604_800]) await w.own.charges.create({ expires_in });
    for (const expires_in of [59, 604_801]) {
      refused(await w.own.charges.post({ expires_in }), 'VALIDATION_ERROR', ['expires_in']);
    }
  }),
  ...(['charge', 'payout'] as const).map((noun) =>
    it(`webhook_url-${noun}`, `\`webhook_url\`: up to 2048 characters (${noun})`, async (w) => {
      const answer = await w.own[`${noun}s`].post({ webhook_url: tooLong(w.hookBase) });
      refused(answer, 'VALIDATION_ERROR', ['webhook_url']);
    }),
  ),
  it('secret', 'Endpoint `secret`: at least 8 characters', async (w) => {
    await withEndpoint(w, { secret: '8letters' }, (one) => equal(one.has_secret, true, 'it'));
    refused(await w.own.endpoints.post({ secret: '7letter' }), 'VALIDATION_ERROR', ['secret']);
  }),
  it('idempotency-key', '`Idempotency-Key`: at least 8 characters', async (w) => {
    refused(await w.own.charges.post({}, '1234567'), 400);
    bodyWith(await w.own.charges.post({}, randomUUID().slice(-8)), 201);
  }),
  it('limit', '`limit`: 1 to 100, default 20', async (w) => {
    for (const path of ['/v1/charges', '/v1/payouts']) {
      for (const limit of [1, 100]) bodyWith(await w.own.call(`GET ${path}?limit=${limit}`), 200);
      for (const limit of [0, 101]) {
        refused(await w.own.call(`GET ${path}?limit=${limit}`), 'VALIDATION_ERROR', ['limit']);
      }
    }
  }),
  it('limit-default', '`limit`: never more than the default of 20 when absent', async (w) => {
    holds((await w.own.charges.list()).data.length <= 20, 'items', 'more than 20');
  }),
  unobservable(
    'response-time',
    'Delivery response time: 10 seconds',
    'seen by retries.timeout and retries.slow-2xx',
  ),
  unobservable('attempts', 'Delivery attempts: 8 over about 22 hours', 'takes 22 hours'),
]);

function tooLong(base: string): string {
  return `${base}/${'x'.repeat(2_049 - base.length - 1)}`;
}

export const VERSIONING_CASES = section('versioning', [
  it('prefix', 'The version is the path prefix `/v1`', async (w) => {
    bodyWith(await w.own.call('GET /v1/account'), 200);
    refused(await w.own.call('GET /v2/account'), 404);
  }),
  unobservable(
    'breaking',
    'Breaking changes go to a new version, never into v1',
    'one run sees one moment; that this suite goes on passing shows it',
  ),
  it('new-fields', 'Clients ignore unknown fields, and so does the installation', async (w) => {
    bodyWith(await w.own.charges.post({ added_later: { by: 'a client of tomorrow' } }), 201);
  }),
  it('enum-values', 'every enum value is one that v1 documents now', async (w) => {
    for (const { status } of (await w.own.charges.list('limit=100')).data) {
      oneOf(status, CHARGE_STATUSES, 'status');
    }
  }),
  it('no-field-removed', 'Within v1 no field is removed or renamed, no type changes', async (w) => {
    shaped(Charge, await w.own.charges.read((await fullCharge(w)).charge.id), 'the charge');
  }),
  it.funds('no-payout-field-removed', 'no field is removed or renamed (payout)', async (w) => {
    shaped(Payout, await barePayout(w), 'the payout');
  }),
  unobservable('codes', 'no error code changes meaning', 'one run sees one moment'),
  it(
    'history.initial',
    'initial release: charges, payouts, balance, account, webhooks',
    async (w) => {
      for (const path of ['charges', 'payouts', 'balance', 'account', 'webhooks']) {
        bodyWith(await w.own.call(`GET /v1/${path}`), 200);
      }
    },
  ),
  it('history.failure_reason', 'field `failure_reason`', async (w) => {
    equal((await bareCharge(w)).failure_reason, null, 'failure_reason of a pending charge');
  }),
  it('history.webhook_url', '`webhook_url` per resource', async (w) => {
    const { charge, sent } = await fullCharge(w);
    equal(charge.webhook_url, sent.webhook_url, 'webhook_url');
  }),
  it('history.event-names', 'event names are `<resource>.<method>.<action>`', async (w) => {
    for (const { event } of await catalog(w)) equal(event.split('.').length, 3, event);
  }),
  it('history.no-payout-events', '`payout.*` events became `payment.*`', async (w) => {
    const resources = new Set((await catalog(w)).map(({ resource }) => resource));
    equal([resources.has('payout'), resources.has('payment')], [false, true], 'the resources');
  }),
  delivered('history.envelope', 'envelope fields `resource`, `method`, `action`', async (w) => {
    for (const { envelope } of (await deliveredCharge(w)).deliveries.values()) {
      const name = [envelope.resource, envelope.method, envelope.action].join('.');
      equal(name, envelope.event, 'event');
    }
  }),
  delivered.funds('history.payments-delivered', '`payment.*` events are delivered', async (w) => {
    holds((await deliveredPayout(w)).deliveries.size > 0, 'deliveries', 0);
  }),
  it.simulator('history.charge_id', '`charge_id` in `ACQUIRER_REJECTED`', async (w) => {
    const { answer } = await refusedCharge(w);
    const { charge_id } = refused(answer, 'ACQUIRER_REJECTED');
    holds(charge_id !== undefined, 'charge_id', answer.text);
  }),
  it(
    'announced',
    'Announced next: `expired`, `authorized`, `completed` are not emitted',
    async (w) => {
      const waiting = (await catalog(w)).filter(({ dispatched }) => !dispatched);
      const actions = new Set(waiting.map(({ action }) => action));
      equal([...actions].toSorted(), ['authorized', 'completed', 'expired'], 'not dispatched');
    },
  ),
  unobservable(
    'announced-others',
    'Announced next: a per-key rate limit, and boleto and card support for charges',
    'not in v1; service.scope-boleto and service.scope-card see that they are refused',
  ),
]);
