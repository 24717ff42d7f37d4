import { z } from 'zod';

import { equal, holds, shaped } from '../client/expectations.ts';
import { Charge, CHARGE_STATUSES, ChargeItem, Instant, Receiver, Uuid } from '../client/schemas.ts';
import { it, section } from '../suite/case.ts';
import { bodyWith } from '../world/api-client.ts';
import {
  bareCharge,
  EXPIRES_IN,
  fullCharge,
  paidCharge,
  refusedCharge,
} from '../world/fixtures.ts';
import { CUSTOMER } from '../world/merchant.ts';
import type { World } from '../world/world.ts';
import { AS_SENT, rows, secondsBetween } from './field-rows.ts';

async function sentCharge(w: World): Promise<{ resource: Charge; sent: object }> {
  const { charge, sent } = await fullCharge(w);
  return { resource: charge, sent };
}

const EVERY_CHARGE = rows(it, sentCharge, {
  id: ['uuid', Uuid],
  object: ['always `charge`', 'charge'],
  status: ['see States', z.enum(CHARGE_STATUSES)],
  amount: ['integer, cents', AS_SENT],
  currency: ['`BRL`', 'BRL'],
  method: ['`pix` in v1', 'pix'],
  description: ['string or null; here as sent', AS_SENT],
  reference: ["caller's own identifier, as sent", AS_SENT],
  'customer.name': ['as sent', CUSTOMER.name],
  'customer.email': ['as sent', CUSTOMER.email],
  'customer.document': ['returned without mask characters', '52998224725'],
  'pix.br_code': ['Pix copy-and-paste (EMV payload) whose check sum holds', isBrCode],
  webhook_url: ['stored at creation', AS_SENT],
  expires_at: [
    'when the charge stops accepting payment: `expires_in` after creation',
    (value, { created_at }) => equal(secondsBetween(created_at, value), EXPIRES_IN, 'seconds'),
  ],
  created_at: ['ISO 8601', Instant],
});

const BARE_CHARGE = rows(it, async (w) => ({ resource: await bareCharge(w) }), {
  'description-null': ['null when not given', null],
  'reference-null': ['null when not given', null],
  'webhook_url-null': ['null when not given', null],
  'paid_at-null': ['null before the payment', null],
  'failure_reason-null': ['null unless the status is `failed`', null],
  'pix.end_to_end_id-null': ['null before the payment', null],
  receiver: ['object of nine fields, each of which may be null, or null', Receiver.nullable()],
});

const PAID_CHARGE = rows(it.simulator, async (w) => ({ resource: await paidCharge(w) }), {
  'pix.end_to_end_id': ['filled after payment', z.string().min(1)],
  paid_at: ['payment confirmation time', Instant],
});

export const CHARGE_CASES = section('charge', [
  ...EVERY_CHARGE,
  ...BARE_CHARGE,
  ...PAID_CHARGE,
  it.simulator('failure_reason', '`failure_reason`: set when status is `failed`', async (w) => {
    const { key, body } = await refusedCharge(w);
    const replay = bodyWith(await w.own.charges.post(body, key), 201);
    const charge = shaped(Charge, replay, 'the failed charge');
    holds(Boolean(charge.failure_reason), 'a reason', charge.failure_reason);
  }),
  it('no-image', 'the QR code is derived by the client, no image URL exists', async (w) => {
    const answer = await w.own.call(`GET /v1/charges/${(await bareCharge(w)).id}`);
    const { pix } = bodyWith(answer, 200) as { pix: object };
    const images = Object.entries(pix).filter(([name, value]) => isImage(name, String(value)));
    equal(images, [], 'fields with an image');
  }),
  it('secret-never-returned', 'the `webhook_secret` is never returned', async (w) => {
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
  it('reference-everywhere', '`reference` is returned in all responses', async (w) => {
    const { charge, sent } = await fullCharge(w);
    equal((await w.own.charges.read(charge.id)).reference, sent.reference, 'when read');
    const listed = await findListed(w, charge);
    equal(listed?.reference, sent.reference, 'in the list');
  }),
  it('list-item', 'list items carry `object` and at least the eight named fields', async (w) => {
    const { charge } = await fullCharge(w);
    const item = await findListed(w, charge);
    equal(item, ChargeItem.parse(await w.own.charges.read(charge.id)), 'the item and the charge');
  }),
]);

/** The charge as the list shows it, found by its instant, so that others in the list do not matter. */
async function findListed(w: World, charge: Charge): Promise<ChargeItem | undefined> {
  const before = new Date(Date.parse(charge.created_at) + 1).toISOString();
  const { data } = await w.own.charges.list(`limit=20&created_before=${before}`);
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
