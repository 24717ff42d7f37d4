import { z } from 'zod';

import {
  DeadLetter as ServiceDeadLetter,
  InspectedDeadLetter as ServiceInspectedDeadLetter,
} from '../internal/dead-letters.ts';
import { CheckReport, FullRun } from '../internal/reconciliation.ts';
import { Timestamp } from '../timestamp.ts';
import { Account, LatePaymentPolicy } from '../http/account.ts';
import { DeadLetterService } from './admin-queries.ts';
import { Limit } from './limit-field.ts';
import { Scope } from '../http/scopes.ts';

/** The resources of `/admin` that `/v1` does not have. */

export const Operator = z.object({
  id: z.uuid(),
  object: z.literal('operator'),
  name: z.string(),
  created_at: Timestamp,
});

/** The one answer that carries the token. */
export const CreatedOperator = Operator.extend({ token: z.string() });

export const AuditEntry = z.object({
  id: z.uuid(),
  object: z.literal('audit_entry'),
  actor: z.string().meta({ description: 'Id of an operator, or `bootstrap`.' }),
  action: z.string(),
  target_kind: z.string(),
  target_id: z.string(),
  digest_before: z.string().nullable(),
  digest_after: z.string().nullable(),
  client_address: z
    .string()
    .nullable()
    .meta({ description: 'Where the operator called from; null before it was recorded.' }),
  created_at: Timestamp,
});

/** The account as operators see it: the public record and the settings that merchants do not. */
export const AdminAccount = Account.extend({
  payouts_enabled: z.boolean(),
  payout_fee: z.int().min(0).meta({ description: 'Cents.' }),
  charge_expires_in: z.int(),
  release_delay_seconds: z.int(),
  late_payment_policy: LatePaymentPolicy,
  requests_per_minute_max: Limit,
  requests_in_flight_max: Limit,
  endpoints_max: Limit,
  deliveries_per_second_max: Limit,
});

export const Application = z.object({
  id: z.uuid(),
  object: z.literal('application'),
  account_id: z.uuid(),
  name: z.string(),
  active: z.boolean(),
  created_at: Timestamp,
});

/** A key without its secret. `public_id` is the part of a leaked key that tells which one it is. */
export const ApiKey = z.object({
  id: z.uuid(),
  object: z.literal('key'),
  account_id: z.uuid(),
  application_id: z.uuid(),
  public_id: z.string(),
  name: z.string(),
  scopes: z.array(Scope),
  suspended: z.boolean(),
  expires_at: Timestamp.nullable(),
  revoked_at: Timestamp.nullable(),
  requests_per_minute_max: Limit,
  requests_in_flight_max: Limit,
  created_at: Timestamp,
});

/** The first answer of a creation alone carries `key`; a repeat does not. */
export const CreatedApiKey = ApiKey.extend({ key: z.string().optional() });

export const LoggedRequest = z.object({
  id: z.uuid(),
  object: z.literal('request'),
  account_id: z.uuid().nullable(),
  application_id: z.uuid().nullable(),
  key_id: z.uuid().nullable().meta({ description: 'Null where no key was accepted.' }),
  method: z.string().nullable().meta({ description: 'Null where the bytes were no HTTP.' }),
  route: z.string().nullable().meta({ description: 'The template; null where no route was met.' }),
  status: z.int().meta({ description: '499 where the client left before its answer.' }),
  duration_ms: z.int().min(0),
  request_id: z.uuid(),
  client_address: z
    .string()
    .nullable()
    .meta({ description: 'Where it came from; null where the client had left at once.' }),
  trace_id: z.string().nullable().meta({ description: 'Null where nothing is traced.' }),
  idempotency_mismatch: z.boolean(),
  created_at: Timestamp,
});

/** Cents by kind of account, with the number of the journal after which it stood so. */
export const Balances = z.object({
  object: z.literal('balances'),
  account_id: z.uuid(),
  currency: z.literal('BRL'),
  available: z.int(),
  pending: z.int(),
  held: z.int(),
  blocked: z.int(),
  suspense: z.int(),
  acquirer_clearing: z.int(),
  fees: z.int(),
  acquirer_tariffs: z.int(),
  version: z.int().min(0),
});

export const Journal = z.object({
  id: z.uuid(),
  object: z.literal('journal'),
  kind: z.string(),
  command_id: z.uuid(),
  resource_id: z.uuid().nullable(),
  created_at: Timestamp,
  entries: z.array(
    z.object({
      account: z.string(),
      direction: z.enum(['debit', 'credit']),
      amount: z.int().min(0),
    }),
  ),
});

export const SuspenseItem = z.object({
  id: z.uuid(),
  object: z.literal('suspense_item'),
  account_id: z.uuid().nullable().meta({ description: 'Null: money that nobody owns.' }),
  end_to_end_id: z.string().nullable(),
  charge_id: z.uuid().nullable(),
  payout_id: z.uuid().nullable(),
  amount: z.int(),
  reason: z.string(),
  created_at: Timestamp,
  resolved_at: Timestamp.nullable(),
});

export const Reconciliation = z.object({
  object: z.literal('reconciliation'),
  checked_at: Timestamp.nullable().meta({ description: 'Null until every service has run.' }),
  breaks: z.int().min(0),
  checks: z.array(CheckReport),
  full_runs: z
    .array(FullRun.extend({ service: z.string() }))
    .meta({ description: 'Full runs that are requested or under way, by service.' }),
});

export const DeadLetter = ServiceDeadLetter.extend({ service: DeadLetterService });

/** One dead letter with what of its message people may see. */
export const InspectedDeadLetter = ServiceInspectedDeadLetter.extend({
  service: DeadLetterService,
});

export const ReplayedDeadLetter = z.object({
  id: z.string(),
  object: z.literal('dead_letter'),
  replayed: z.literal(true),
});
