import { z } from 'zod';

import { equal, holds, shaped } from '../client/expectations.ts';
import { Instant, type Payout, PAYOUT_STATUSES, Uuid } from '../client/schemas.ts';
import { it, section } from '../suite/case.ts';
import { barePayout, completedPayout, failedPayout, fullPayout } from '../world/fixtures.ts';
import type { World } from '../world/world.ts';
import { AS_SENT, plain, rows } from './field-rows.ts';

async function sentPayout(w: World): Promise<{ resource: Payout; sent: object }> {
  const { payout, sent } = await fullPayout(w);
  return { resource: payout, sent };
}

const EVERY_PAYOUT = rows(it.funds, sentPayout, {
  id: ['uuid', Uuid],
  object: ['always `payout`', 'payout'],
  status: ['see States', z.enum(PAYOUT_STATUSES)],
  method: ['`pix` at creation in v1', 'pix'],
  amount: ['cents, without fee', AS_SENT],
  fee: ['integer, cents', z.int().min(0)],
  currency: ['`BRL`', 'BRL'],
  description: ['string or null; here as sent', AS_SENT],
  reference: ['string or null; here as sent', AS_SENT],
  'recipient.name': ['as sent', AS_SENT],
  'recipient.document': [
    'the CPF or CNPJ that was sent',
    (value) => equal(plain(value), '52998224725', 'document'),
  ],
  'recipient.pix_key_type': ['as sent', AS_SENT],
  'recipient.pix_key': ['echoed as sent, mask and all', AS_SENT],
  webhook_url: ['stored at creation', AS_SENT],
  created_at: ['ISO 8601', Instant],
});

const BARE_PAYOUT = rows(it.funds, async (w) => ({ resource: await barePayout(w) }), {
  'recipient.document-null': ['null when not given', null],
  'description-null': ['null when not given', null],
  'reference-null': ['null when not given', null],
  'webhook_url-null': ['null when not given', null],
  'failure_reason-null': ['null unless it failed', null],
  'end_to_end_id-null': ['null before `completed`', null],
});

const COMPLETED_PAYOUT = rows(it.funds, async (w) => ({ resource: await completedPayout(w) }), {
  end_to_end_id: ['Pix settlement id, available after `completed`', z.string().min(1)],
  processed_at: [
    'when it was sent to the acquirer',
    (value, { created_at }) =>
      holds(shaped(Instant, value, 'processed_at') >= created_at, 'not before', value),
  ],
});

export const PAYOUT_CASES = section('payout', [
  ...EVERY_PAYOUT,
  ...BARE_PAYOUT,
  ...COMPLETED_PAYOUT,
  it.funds('secret-never-returned', 'no answer carries the `webhook_secret`', async (w) => {
    const { payout, sent } = await fullPayout(w);
    const { text } = await w.own.call(`GET /v1/payouts/${payout.id}`);
    holds(!text.includes(sent.webhook_secret), 'no secret', payout.id);
  }),
  it.simulator.admin(
    'failure_reason',
    '`failure_reason`: reason when status is `failed`',
    async (w) => {
      const { failure_reason } = (await failedPayout(w)).ended;
      holds(Boolean(failure_reason), 'a reason', failure_reason);
    },
  ),
  it.simulator.admin(
    'fee-leaves',
    '`fee`: leaves the balance together with the amount',
    async (w) => {
      const { created, before, during } = await failedPayout(w);
      const cost = before.available - during.available;
      equal(cost, created.amount + created.fee, 'what left the available balance');
    },
  ),
]);
