import { Instant, PAYOUT_STATUSES, type Payout, Uuid } from '../client/schemas.ts';
import { alone, needing, observed, section } from '../suite/case.ts';
import { equal, holds, oneOf, shaped } from '../suite/expectations.ts';
import { barePayout, completedPayout, failedPayout, fullPayout } from '../world/fixtures.ts';
import { plain, rows } from './field-rows.ts';

type FullPayout = Awaited<ReturnType<typeof fullPayout>>;

const EVERY_PAYOUT = rows<FullPayout>(fullPayout, {
  id: ['uuid', ({ payout }) => shaped(Uuid, payout.id, 'id')],
  object: ['always `payout`', ({ payout }) => equal(payout.object, 'payout', 'object')],
  status: ['see States', ({ payout }) => oneOf(payout.status, PAYOUT_STATUSES, 'status')],
  method: ['`pix` at creation in v1', ({ payout }) => equal(payout.method, 'pix', 'method')],
  amount: ['cents, without fee', ({ payout, sent }) => equal(payout.amount, sent.amount, 'amount')],
  fee: ['integer, cents', ({ payout }) => holds(payout.fee >= 0, 'not negative', payout.fee)],
  currency: ['`BRL`', ({ payout }) => equal(payout.currency, 'BRL', 'currency')],
  description: [
    'string or null; here as sent',
    ({ payout, sent }) => equal(payout.description, sent.description, 'description'),
  ],
  reference: [
    'string or null; here as sent',
    ({ payout, sent }) => equal(payout.reference, sent.reference, 'reference'),
  ],
  'recipient.name': [
    'as sent',
    ({ payout, sent }) => equal(payout.recipient.name, sent.recipient_name, 'name'),
  ],
  'recipient.document': [
    'the CPF or CNPJ that was sent',
    ({ payout }) => equal(plain(payout.recipient.document), '52998224725', 'document'),
  ],
  'recipient.pix_key_type': [
    'as sent',
    ({ payout, sent }) => equal(payout.recipient.pix_key_type, sent.pix_key_type, 'type'),
  ],
  'recipient.pix_key': [
    'echoed as sent, mask and all',
    ({ payout, sent }) => equal(payout.recipient.pix_key, sent.pix_key, 'pix_key'),
  ],
  webhook_url: [
    'stored at creation',
    ({ payout, sent }) => equal(payout.webhook_url, sent.webhook_url, 'webhook_url'),
  ],
  created_at: ['ISO 8601', ({ payout }) => shaped(Instant, payout.created_at, 'created_at')],
});

const BARE_PAYOUT = rows<Payout>(barePayout, {
  'recipient.document-null': [
    'null when not given',
    (payout) => equal(payout.recipient.document, null, 'document'),
  ],
  'description-null': [
    'null when not given',
    (payout) => equal(payout.description, null, 'description'),
  ],
  'reference-null': ['null when not given', (payout) => equal(payout.reference, null, 'reference')],
  'webhook_url-null': [
    'null when not given',
    (payout) => equal(payout.webhook_url, null, 'webhook_url'),
  ],
  'failure_reason-null': [
    'null unless it failed',
    (payout) => equal(payout.failure_reason, null, 'failure_reason'),
  ],
  'end_to_end_id-null': [
    'null before `completed`',
    (payout) => equal(payout.end_to_end_id, null, 'end_to_end_id in the 201'),
  ],
});

const COMPLETED_PAYOUT = rows<Payout>(completedPayout, {
  end_to_end_id: [
    'Pix settlement id, available after `completed`',
    (payout) => holds(Boolean(payout.end_to_end_id), 'filled', payout.end_to_end_id),
  ],
  processed_at: [
    'when it was sent to the acquirer',
    (payout) => {
      shaped(Instant, payout.processed_at, 'processed_at');
      holds((payout.processed_at ?? '') >= payout.created_at, 'not before', payout.processed_at);
    },
  ],
});

export const PAYOUT_CASES = section('payout', [
  ...needing(['funds'], [...EVERY_PAYOUT, ...BARE_PAYOUT, ...COMPLETED_PAYOUT]),
  ...needing(
    ['funds'],
    [
      observed('secret-never-returned', 'no answer carries the `webhook_secret`', async (w) => {
        const { payout, sent } = await fullPayout(w);
        const { text } = await w.own.call(`GET /v1/payouts/${payout.id}`);
        holds(!text.includes(sent.webhook_secret), 'no secret', payout.id);
      }),
    ],
  ),
  ...alone(
    needing(
      ['admin', 'simulator'],
      [
        observed(
          'failure_reason',
          '`failure_reason`: reason when status is `failed`',
          async (w) => {
            const { failure_reason } = (await failedPayout(w)).ended;
            holds(Boolean(failure_reason), 'a reason', failure_reason);
          },
        ),
        observed('fee-leaves', '`fee`: leaves the balance together with the amount', async (w) => {
          const { created, before, during } = await failedPayout(w);
          const cost = before.available - during.available;
          equal(cost, created.amount + created.fee, 'what left the available balance');
        }),
      ],
    ),
  ),
]);
