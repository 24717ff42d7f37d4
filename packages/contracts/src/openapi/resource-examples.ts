import type { z } from 'zod';

import { EVENT_CATALOGUE } from '../events/event-catalogue.ts';
import type { Account } from '../http/account.ts';
import type { Balance } from '../http/balance.ts';
import type { Charge } from '../http/charge.ts';
import type { Dispute } from '../http/dispute.ts';
import type { PaymentSnapshot, Payout } from '../http/payout.ts';
import type { PUBLIC_ROUTES } from '../http/public-routes.ts';
import type { Webhook } from '../http/webhook.ts';

type Answer<Route extends keyof typeof PUBLIC_ROUTES> = z.infer<
  NonNullable<(typeof PUBLIC_ROUTES)[Route]['response']>
>;

export const CHARGE: Charge = {
  id: '7d9f3c62-1d4e-5f0a-8a44-53c1f6b2e003',
  object: 'charge',
  status: 'pending',
  amount: 12_345,
  currency: 'BRL',
  method: 'pix',
  description: 'Order 1042',
  reference: 'order-1042',
  customer: { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' },
  pix: {
    br_code:
      '00020126760014br.gov.bcb.pix2554pix.example.com/qr/v2/7d9f3c621d4e5f0a8a4453c1f6b2e0035204000053039865802BR5912LOJA EXEMPLO6009SAO PAULO62070503***63043A7C',
    end_to_end_id: null,
  },
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
  refunded_amount: 0,
  webhook_url: 'https://shop.example.com/hooks/pix',
  expires_at: '2026-11-20T16:30:00.000Z',
  paid_at: null,
  failure_reason: null,
  created_at: '2026-11-20T15:30:00.000Z',
};

export const PAID_CHARGE: Charge = {
  ...CHARGE,
  status: 'paid',
  pix: { ...CHARGE.pix, end_to_end_id: 'E12345678202611201531a1b2c3d4e5f' },
  paid_at: '2026-11-20T15:31:02.000Z',
};

/** What a repeated key finds where the acquirer had refused. */
export const FAILED_CHARGE: Charge = {
  ...CHARGE,
  status: 'failed',
  pix: { br_code: null, end_to_end_id: null },
  expires_at: null,
  failure_reason: 'AB03: the acquirer refused the charge',
};

export const PAYOUT: Payout = {
  id: '3b1f0a52-77c4-5d2e-9e61-0f4d8c2ab007',
  object: 'payout',
  status: 'processing',
  method: 'pix',
  amount: 5_000,
  fee: 50,
  currency: 'BRL',
  description: 'Supplier 77',
  reference: 'invoice-77',
  recipient: {
    name: 'Bruno Lima',
    document: '52998224725',
    pix_key_type: 'email',
    pix_key: 'Bruno@example.com',
  },
  end_to_end_id: null,
  failure_reason: null,
  webhook_url: 'https://shop.example.com/hooks/payouts',
  processed_at: null,
  created_at: '2026-11-20T15:30:00.000Z',
};

export const COMPLETED_PAYOUT: Payout = {
  ...PAYOUT,
  status: 'completed',
  end_to_end_id: 'E12345678202611201532f5e4d3c2b1a',
  processed_at: '2026-11-20T15:30:01.250Z',
};

export const PAYMENT: PaymentSnapshot = { ...PAYOUT, object: 'payment' };
export const COMPLETED_PAYMENT: PaymentSnapshot = { ...COMPLETED_PAYOUT, object: 'payment' };

export const BALANCE: Balance = {
  object: 'balance',
  currency: 'BRL',
  available: 812_340,
  pending: 12_345,
  total: 824_685,
  blocked: 0,
};

export const ACCOUNT: Account = {
  id: '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a001',
  object: 'account',
  name: 'Loja Exemplo',
  legal_name: 'Loja Exemplo Ltda',
  document: '11222333000181',
  document_type: 'cnpj',
  phone: '+5511999990000',
  status: 'active',
  onboarding_status: 'approved',
  auto_payout_enabled: true,
  created_at: '2026-10-01T12:00:00.000Z',
};

export const WEBHOOK: Webhook = {
  id: '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a00b',
  object: 'webhook',
  url: 'https://shop.example.com/hooks',
  description: 'Orders',
  events: ['charge.pix.paid', 'payment.pix.failed'],
  active: true,
  has_secret: true,
  created_at: '2026-11-20T15:30:00.000Z',
};

export const DISPUTE: Dispute = {
  id: '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a009',
  object: 'dispute',
  charge_id: CHARGE.id,
  status: 'open',
  method: 'pix',
  amount: 12_345,
  returned_amount: 0,
  currency: 'BRL',
  reference: CHARGE.reference,
  reason: 'scam',
  arrived_resolved: false,
  opened_at: '2026-11-25T09:00:00.000Z',
  defense_deadline_at: '2026-11-28T09:00:00.000Z',
  resolved_at: null,
};

export const CHARGE_PAGE: Answer<'listCharges'> = pageOf([PAID_CHARGE], false);
export const PAYOUT_PAGE: Answer<'listPayouts'> = pageOf([COMPLETED_PAYOUT], true);
export const WEBHOOK_LIST: Answer<'listWebhooks'> = pageOf([WEBHOOK], false);
export const EVENT_LIST: Answer<'listWebhookEvents'> = pageOf(EVENT_CATALOGUE, false);

function pageOf<Item>(data: Item[], has_more: boolean) {
  return { object: 'list' as const, data, has_more };
}
