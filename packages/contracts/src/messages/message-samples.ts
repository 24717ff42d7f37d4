import { toCents } from '@pixmesh/kernel/money';

import type { Charge } from '../http/charge.ts';
import type { ChargeEventType } from './charge-event.v1.ts';

const ACCOUNT_ID = '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a001';
const APPLICATION_ID = '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a002';
const CHARGE_ID = '7d9f3c62-1d4e-5f0a-8a44-53c1f6b2e003';
const COMMAND_ID = '2c8f7b1a-6a3d-5e4b-9c10-a7d8e9f0b004';
const END_TO_END_ID = 'E60701190202611201530a1b2c3d4e5f';
const OCCURRED_AT = '2026-11-20T15:30:00.123Z';

const CHARGE: Charge = {
  id: CHARGE_ID,
  object: 'charge',
  status: 'pending',
  amount: 12_345,
  currency: 'BRL',
  method: 'pix',
  description: 'Order 1042',
  reference: 'order-1042',
  customer: { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' },
  pix: { br_code: '00020126360014br.gov.bcb.pix…6304ABCD', end_to_end_id: null },
  receiver: {
    name: 'Loja Exemplo',
    document: '11222333000181',
    pix_key: '5f8b2f0c-3d0e-4a6b-9b0a-1c2d3e4f5a6b',
    pix_key_type: 'random',
    institution_name: 'Banco Exemplo',
    institution_ispb: '12345678',
    branch: '0001',
    account: '123456',
    account_type: 'payment',
  },
  webhook_url: 'https://shop.example/hook',
  expires_at: '2026-11-21T15:30:00.000Z',
  paid_at: null,
  failure_reason: null,
  created_at: '2026-11-20T15:30:00.000Z',
};

const PAID: Partial<Charge> = {
  status: 'paid',
  pix: { br_code: CHARGE.pix.br_code, end_to_end_id: END_TO_END_ID },
  paid_at: '2026-11-20T15:31:02.000Z',
};

const RECEIVED_PIX = {
  command_id: COMMAND_ID,
  end_to_end_id: END_TO_END_ID,
  charge_id: CHARGE_ID,
  amount: toCents(12_345),
};

const OUTCOME = {
  ...RECEIVED_PIX,
  journal_id: '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a006',
  balance: { available: toCents(12_345), pending: toCents(0) },
};

/** One value of every message type, as the program holds it: for tests and for people. */
export const MESSAGE_SAMPLES: Readonly<Record<string, object>> = {
  'acquirer.callback': {
    ...envelope('acquirer.callback'),
    account_id: null,
    application_id: null,
    data: {
      kind: 'received',
      item: {
        endToEndId: END_TO_END_ID,
        txid: CHARGE_ID.replaceAll('-', ''),
        valor: '123.45',
        horario: OCCURRED_AT,
        pagador: { nome: 'Ana Souza', lista: [1, null, true] },
      },
    },
  },
  'charge.pix.created': chargeEvent('charge.pix.created', 1, {}),
  'charge.pix.emitted': chargeEvent('charge.pix.emitted', 2, {}),
  'charge.pix.paid': chargeEvent('charge.pix.paid', 3, PAID),
  'charge.pix.failed': chargeEvent('charge.pix.failed', 1, {
    status: 'failed',
    pix: { br_code: null, end_to_end_id: null },
    customer: null,
    receiver: null,
    expires_at: null,
    failure_reason: 'issuance_timeout',
  }),
  'received_pix.credit': {
    ...envelope('received_pix.credit'),
    data: { ...RECEIVED_PIX, release_at: '2026-11-22T15:31:02.000Z' },
  },
  'received_pix.suspend': {
    ...envelope('received_pix.suspend'),
    data: { ...RECEIVED_PIX, charge_id: null, reason: 'unowned' },
  },
  'received_pix.credited': { ...envelope('received_pix.credited'), data: OUTCOME },
  'received_pix.suspended': { ...envelope('received_pix.suspended'), data: OUTCOME },
};

function envelope(type: string) {
  return {
    event_id: '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a005',
    type,
    version: 1,
    occurred_at: OCCURRED_AT,
    account_id: ACCOUNT_ID,
    application_id: APPLICATION_ID,
  };
}

function chargeEvent(type: ChargeEventType, sequence: number, changes: Partial<Charge>) {
  return {
    ...envelope(type),
    source: 'api',
    sequence,
    destination: { url: CHARGE.webhook_url, sealed_secret: 'v1.c2VhbGVk' },
    data: { ...CHARGE, ...changes },
  };
}
