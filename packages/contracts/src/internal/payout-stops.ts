import { z } from 'zod';

import { orNull } from '../http/optional-field.ts';
import { textField } from '../http/text-field.ts';
import { Timestamp } from '../timestamp.ts';
import { AnyCaseId } from './id-fields.ts';

/**
 * Stops of payouts: routes of the payouts service that only the gateway calls, for operators. Codes beside
 * `VALIDATION_ERROR`: `NOT_FOUND` 404 where there is nothing to end and never was.
 */
export const PAYOUT_STOP_PATHS = {
  /** GET with `ListPayoutStopsQuery`, `limit`, `starting_after` → list of `PayoutStop`, newest first. */
  list: '/internal/payout-stops',
  /** POST `StopPayoutsBody` → 200 `PayoutStop`; the one in force where there is one, marked `Idempotent-Replayed`. */
  stop: '/internal/payout-stops',
  /** POST `ResumePayoutsBody` → 200 `PayoutStop`; the one that ended last where none is in force, marked likewise. */
  resume: '/internal/payout-stops/resume',
} as const;

const REASON_LENGTH_MAX = 500;

/** Absent or null: all accounts. A stop of all and the stops of single accounts begin and end apart. */
const StoppedAccount = orNull(AnyCaseId);

/**
 * Body of `POST /admin/payouts/stop`. Other fields are refused, here and below: with `account_id` misspelled, a call for
 * one account would be one for all.
 */
export const StopPayoutsBody = z.strictObject({
  account_id: StoppedAccount,
  reason: textField({ min: 1, max: REASON_LENGTH_MAX }),
});

/** Body of `POST /admin/payouts/resume`. */
export const ResumePayoutsBody = z.strictObject({ account_id: StoppedAccount });

/** Filters of the list, beside paging. */
export const ListPayoutStopsQuery = z.object({
  account_id: AnyCaseId.optional(),
  status: z.enum(['in_force', 'ended']).optional(),
});
export type ListPayoutStopsQuery = z.output<typeof ListPayoutStopsQuery>;

/** Who sets a stop that no operator has set. */
export const SET_BY_RECONCILIATION = 'reconciliation';

/**
 * A break that was seen while the stop was in force: `service`, `check`, `kind` and `id` as reconciliation reports it.
 */
const StopBreak = z.object({
  service: z.string(),
  check: z.string(),
  kind: z.string(),
  id: z.string(),
  since: Timestamp,
});

/** While it is in force no payout of the account is sent, and new ones wait for approval (ADR 0031). */
export const PayoutStop = z.object({
  id: z.uuid(),
  object: z.literal('payout_stop'),
  account_id: z.uuid().nullable().meta({ description: 'Null: all accounts.' }),
  reason: z.string(),
  set_by: z.string().meta({ description: 'Id of an operator, `reconciliation`, or `restore`.' }),
  created_at: Timestamp,
  ended_at: Timestamp.nullable().meta({ description: 'Null while it is in force.' }),
  ended_by: z.uuid().nullable(),
  breaks: z.array(StopBreak).meta({
    description: 'Breaks of reconciliation seen under it, the oldest 20. They do not stop again.',
  }),
});
export type PayoutStop = z.output<typeof PayoutStop>;
