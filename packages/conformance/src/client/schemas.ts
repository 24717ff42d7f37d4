import { z } from 'zod';

/**
 * The resources as a client reads them in the specification, and nothing more: a missing field or another type is
 * a fault, an unknown field is ignored (Versioning, rule 3).
 */
export const Instant = z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|\+00:00)$/);
export const Uuid = z.uuid();
const Cents = z.int();
const Text = z.string();
const Currency = z.literal('BRL');

export const CHARGE_STATUSES = [
  'processing',
  'pending',
  'paid',
  'expired',
  'canceled',
  'failed',
  'refunded',
  'charged_back',
  'infraction',
] as const;
export const PAYOUT_STATUSES = [
  'pending',
  'processing',
  'completed',
  'failed',
  'canceled',
] as const;
export const DISPUTE_STATUSES = ['open', 'under_review', 'won', 'lost'] as const;
const PIX_KEY_TYPES = ['cpf', 'cnpj', 'email', 'phone', 'random'] as const;

export const Receiver = z.object({
  name: Text.nullable(),
  document: Text.nullable(),
  pix_key: Text.nullable(),
  pix_key_type: Text.nullable(),
  institution_name: Text.nullable(),
  institution_ispb: Text.nullable(),
  branch: Text.nullable(),
  account: Text.nullable(),
  account_type: Text.nullable(),
});

export const Charge = z.object({
  id: Uuid,
  object: z.literal('charge'),
  status: z.enum(CHARGE_STATUSES),
  amount: Cents,
  currency: Currency,
  method: Text,
  description: Text.nullable(),
  reference: Text.nullable(),
  customer: z.object({ name: Text, email: Text, document: Text }).nullable(),
  pix: z.object({ br_code: Text.nullable(), end_to_end_id: Text.nullable() }),
  receiver: Receiver.nullable(),
  webhook_url: Text.nullable(),
  expires_at: Instant.nullable(),
  paid_at: Instant.nullable(),
  failure_reason: Text.nullable(),
  created_at: Instant,
});
export type Charge = z.output<typeof Charge>;

/** What the specification promises of an item of the charge list. */
export const ChargeItem = Charge.pick({
  id: true,
  object: true,
  status: true,
  amount: true,
  currency: true,
  method: true,
  reference: true,
  paid_at: true,
  created_at: true,
});
export type ChargeItem = z.output<typeof ChargeItem>;

export const Payout = z.object({
  id: Uuid,
  object: z.literal('payout'),
  status: z.enum(PAYOUT_STATUSES),
  method: z.enum(['pix', 'ted']),
  amount: Cents,
  fee: Cents,
  currency: Currency,
  description: Text.nullable(),
  reference: Text.nullable(),
  recipient: z.object({
    name: Text.nullable(),
    document: Text.nullable(),
    pix_key_type: z.enum(PIX_KEY_TYPES),
    pix_key: Text,
  }),
  end_to_end_id: Text.nullable(),
  failure_reason: Text.nullable(),
  webhook_url: Text.nullable(),
  processed_at: Instant.nullable(),
  created_at: Instant,
});
export type Payout = z.output<typeof Payout>;

export const Balance = z.object({
  object: z.literal('balance'),
  currency: Currency,
  available: Cents,
  pending: Cents,
  total: Cents,
});
export type Balance = z.output<typeof Balance>;

export const Account = z.object({
  id: Uuid,
  object: z.literal('account'),
  name: Text,
  legal_name: Text,
  document: Text,
  document_type: Text,
  phone: Text,
  status: z.enum(['active', 'inactive']),
  onboarding_status: Text,
  auto_payout_enabled: z.boolean(),
  created_at: Instant,
});
export type Account = z.output<typeof Account>;

export const Endpoint = z.object({
  id: Text,
  object: z.literal('webhook'),
  url: Text,
  description: Text,
  events: z.array(Text),
  active: z.boolean(),
  has_secret: z.boolean(),
  created_at: Instant,
});
export type Endpoint = z.output<typeof Endpoint>;

export const CatalogEntry = z.object({
  event: Text,
  resource: Text,
  method: Text,
  action: Text,
  description: Text,
  dispatched: z.boolean(),
});
export type CatalogEntry = z.output<typeof CatalogEntry>;

export const EventData = z.object({
  object: z.enum(['charge', 'payment', 'dispute']),
  id: Text,
  status: Text,
  method: Text,
  amount: Cents,
  currency: Currency,
  reference: Text.nullable(),
  created_at: Instant,
});

export const Dispute = z.object({
  object: z.literal('dispute'),
  charge_id: Uuid,
  status: z.enum(DISPUTE_STATUSES),
  amount: Cents,
  reason: Text,
  opened_at: Instant,
  defense_deadline_at: Instant.nullable(),
  resolved_at: Instant.nullable(),
});

export const Envelope = z.object({
  id: Text,
  object: z.literal('event'),
  event: Text,
  resource: Text,
  method: Text,
  action: Text,
  created_at: Instant,
  data: z.record(z.string(), z.unknown()),
});
export type Envelope = z.output<typeof Envelope>;

export const ErrorBody = z.object({
  code: z.string().regex(/^[A-Z][A-Z0-9_]*$/),
  message: z.string().min(1),
  details: z.array(z.string()),
  charge_id: Uuid.optional(),
});
export type ErrorBody = z.output<typeof ErrorBody>;

/** The envelope of charges and payouts. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ object: z.literal('list'), data: z.array(item), has_more: z.boolean() });
}

/** The envelope of endpoints and of the catalog, whose `has_more` is not shown. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.object({ object: z.literal('list'), data: z.array(item) });
}
