import { z } from 'zod';

import { Timestamp } from '../timestamp.ts';

/** One difference that is past its window. Amounts in cents, null where none. */
export const Break = z.object({
  /** What kind of difference, such as `missing_left`, `missing_right`, `amount`, `state`, `date`. */
  kind: z.string(),
  /** The business key: end-to-end id, payout id, account id, command id. */
  id: z.string(),
  expected: z.string().nullable(),
  found: z.string().nullable(),
  amount: z.int().nullable(),
  /** When it was first seen. */
  since: Timestamp,
});
export type Break = z.infer<typeof Break>;

export const CheckReport = z.object({
  /** Name of the check, from the list in the reconciliation guide. */
  name: z.string(),
  /** Rows compared by the run. */
  compared: z.int(),
  breaks: z.array(Break),
});
export type CheckReport = z.infer<typeof CheckReport>;

/** A full run that is requested and has not ended. */
export const FullRun = z.object({
  requested_at: Timestamp,
  /** Null while it waits for its turn. */
  started_at: Timestamp.nullable(),
  /** Rows compared so far, by the checks that have ended. */
  compared: z.int(),
});
export type FullRun = z.infer<typeof FullRun>;

/**
 * `GET /internal/reconciliation`: the newest finished run of a service. `POST` runs at once and answers it; of a full
 * run it stores the request, and answers when that has ended or after 20 s.
 */
export const ReconciliationReport = z.object({
  service: z.string(),
  /** Null before the first run has finished. */
  checked_at: Timestamp.nullable(),
  checks: z.array(CheckReport),
  /** Null where none is requested: what is shown is not older than any request. */
  full_run: FullRun.nullable().default(null),
});
export type ReconciliationReport = z.infer<typeof ReconciliationReport>;

/** Body of `POST /internal/reconciliation` and `POST /admin/reconciliation`. */
export const RunReconciliationBody = z.object({ full: z.boolean().default(false) });
