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

/** `GET /internal/reconciliation`: the newest finished run of a service; `POST` runs at once and answers it. */
export const ReconciliationReport = z.object({
  service: z.string(),
  /** Null before the first run has finished. */
  checked_at: Timestamp.nullable(),
  checks: z.array(CheckReport),
});
export type ReconciliationReport = z.infer<typeof ReconciliationReport>;

/** Body of `POST /internal/reconciliation` and `POST /admin/reconciliation`. */
export const RunReconciliationBody = z.object({ full: z.boolean().default(false) });
