import {
  Charge,
  type Charge as ChargeResource,
  CHARGE_STATUSES,
  ChargeItem,
  Instant,
  pageOf,
  Receiver,
  Uuid,
} from '../client/schemas.ts';
import { alone, needing, observed, section } from '../suite/case.ts';
import { equal, holds, oneOf, shaped } from '../suite/expectations.ts';
import { bareCharge, fullCharge, paidCharge, refusedCharge } from '../world/fixtures.ts';
import { bodyWith, CUSTOMER, postCharge, readCharge } from '../world/merchant.ts';
import type { World } from '../world/world.ts';
import { rows, secondsBetween } from './field-rows.ts';

type FullCharge = Awaited<ReturnType<typeof fullCharge>>;

const EVERY_CHARGE = rows<FullCharge>(fullCharge, {
  id: ['uuid', ({ charge }) => shaped(Uuid, charge.id, 'id')],
  object: ['always `charge`', ({ charge }) => equal(charge.object, 'charge', 'object')],
  status: ['see States', ({ charge }) => oneOf(charge.status, CHARGE_STATUSES, 'status')],
  amount: ['integer, cents', ({ charge, sent }) => equal(charge.amount, sent.amount, 'amount')],
  currency: ['`BRL`', ({ charge }) => equal(charge.currency, 'BRL', 'currency')],
  method: ['`pix` in v1', ({ charge }) => equal(charge.method, 'pix', 'method')],
  description: [
    'string or null; here as sent',
    ({ charge, sent }) => equal(charge.description, sent.description, 'description'),
  ],
  reference: [
    "caller's own identifier, as sent",
    ({ charge, sent }) => equal(charge.reference, sent.reference, 'reference'),
  ],
  'customer.name': ['as sent', ({ charge }) => equal(charge.customer?.name, CUSTOMER.name, 'name')],
  'customer.email': [
    'as sent',
    ({ charge }) => equal(charge.customer?.email, CUSTOMER.email, 'email'),
  ],
  'customer.document': [
    'returned without mask characters',
    ({ charge }) => equal(charge.customer?.document, '52998224725', 'document'),
  ],
  'pix.br_code': [
    'Pix copy-and-paste (EMV payload) whose check sum holds',
    ({ charge }) => isBrCode(charge.pix.br_code),
  ],
  webhook_url: [
    'stored at creation',
    ({ charge, sent }) => equal(charge.webhook_url, sent.webhook_url, 'webhook_url'),
  ],
  expires_at: [
    'when the charge stops accepting payment: `expires_in` after creation',
    ({ charge, sent }) =>
      equal(secondsBetween(charge.created_at, charge.expires_at), sent.expires_in, 'seconds'),
  ],
  created_at: ['ISO 8601', ({ charge }) => shaped(Instant, charge.created_at, 'created_at')],
});

const BARE_CHARGE = rows<ChargeResource>(bareCharge, {
  'description-null': [
    'null when not given',
    (charge) => equal(charge.description, null, 'description'),
  ],
  'reference-null': ['null when not given', (charge) => equal(charge.reference, null, 'reference')],
  'webhook_url-null': ['null when not given', (charge) => equal(charge.webhook_url, null, 'url')],
  'paid_at-null': ['null before the payment', (charge) => equal(charge.paid_at, null, 'paid_at')],
  'failure_reason-null': [
    'null unless the status is `failed`',
    (charge) => equal(charge.failure_reason, null, 'failure_reason'),
  ],
  'pix.end_to_end_id-null': [
    'null before the payment',
    (charge) => equal(charge.pix.end_to_end_id, null, 'end_to_end_id'),
  ],
  receiver: [
    'object of nine fields, each of which may be null, or null',
    (charge) => shaped(Receiver.nullable(), charge.receiver, 'receiver'),
  ],
});

const PAID_CHARGE = rows<ChargeResource>(paidCharge, {
  'pix.end_to_end_id': [
    'filled after payment',
    (charge) => holds(Boolean(charge.pix.end_to_end_id), 'filled', charge.pix.end_to_end_id),
  ],
  paid_at: ['payment confirmation time', (charge) => shaped(Instant, charge.paid_at, 'paid_at')],
});

export const CHARGE_CASES = section('charge', [
  ...EVERY_CHARGE,
  ...BARE_CHARGE,
  ...needing(['simulator'], PAID_CHARGE),
  ...alone(
    needing(
      ['simulator'],
      [
        observed('failure_reason', '`failure_reason`: set when status is `failed`', async (w) => {
          const { key, body } = await refusedCharge(w);
          const replay = bodyWith(await postCharge(w.own, body, key), 201);
          const charge = shaped(Charge, replay, 'the failed charge');
          holds(Boolean(charge.failure_reason), 'a reason', charge.failure_reason);
        }),
      ],
    ),
  ),
  observed('no-image', 'the QR code is derived by the client, no image URL exists', async (w) => {
    const answer = await w.own.call(`GET /v1/charges/${(await bareCharge(w)).id}`);
    const { pix } = bodyWith(answer, 200) as { pix: object };
    const images = Object.entries(pix).filter(([name, value]) => isImage(name, String(value)));
    equal(images, [], 'fields with an image');
  }),
  observed('secret-never-returned', 'the `webhook_secret` is never returned', async (w) => {
    const { charge, sent } = await fullCharge(w);
    const answers = [
      await w.own.call(`GET /v1/charges/${charge.id}`),
      await w.own.call('GET /v1/charges?limit=100'),
    ];
    for (const { text, request } of answers) {
      holds(!text.includes(sent.webhook_secret), 'no secret', request);
      holds(!text.includes('webhook_secret'), 'not even its field', request);
    }
  }),
  observed('reference-everywhere', '`reference` is returned in all responses', async (w) => {
    const { charge, sent } = await fullCharge(w);
    equal((await readCharge(w.own, charge.id)).reference, sent.reference, 'when read');
    const listed = await findListed(w, charge);
    equal(listed?.reference, sent.reference, 'in the list');
  }),
  observed(
    'list-item',
    'list items carry `object` and at least the eight named fields',
    async (w) => {
      const { charge } = await fullCharge(w);
      const item = await findListed(w, charge);
      equal(item, ChargeItem.parse(await readCharge(w.own, charge.id)), 'the item and the charge');
    },
  ),
]);

/** The charge as the list shows it, found by its instant, so that others in the list do not matter. */
async function findListed(w: World, charge: ChargeResource): Promise<ChargeItem | undefined> {
  const before = new Date(Date.parse(charge.created_at) + 1).toISOString();
  const answer = await w.own.call(`GET /v1/charges?limit=20&created_before=${before}`);
  const { data } = shaped(pageOf(ChargeItem), bodyWith(answer, 200), 'the list');
  return data.find(({ id }) => id === charge.id);
}

const CRC_POLYNOMIAL = 0x1021;

/** An EMV payload ends in field 63: the CRC16 (CCITT, from 0xFFFF) of everything before its value. */
function isBrCode(code: string | null): void {
  const match = /^(0002\d{2}.*6304)([0-9A-F]{4})$/.exec(code ?? '');
  holds(match !== null, 'an EMV payload from field 00 to field 63', code);
  equal(match?.[2], crc16(Buffer.from(match?.[1] ?? '')), 'the check sum of the EMV payload');
}

function crc16(bytes: Buffer): string {
  let crc = 0xffff;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) {
      crc = ((crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ CRC_POLYNOMIAL) & 0xffff;
    }
  }
  return crc.toString(16).toUpperCase().padStart(4, '0');
}

function isImage(name: string, value: string): boolean {
  return /image|qr_?code_url/i.test(name) || /^(https?:|data:image)/.test(value);
}
