import { z } from 'zod';

/** An entry of the audit log, and the present state of what operators close. Columns by their names. */
const AuditRow = z.object({
  id: z.uuid(),
  actor: z.string(),
  action: z.string(),
  target_kind: z.string(),
  target_id: z.string(),
  digest_before: z.string().nullable(),
  digest_after: z.string().nullable(),
  client_address: z.string().nullable(),
  created_at: z.string(),
});

const Closed = z.object({ id: z.uuid() });

/**
 * What an operator has closed, as it was when it was exported; what the entries name and is not here was open. After a
 * restore it is closed again; nothing is opened because of it.
 */
const ClosedStates = z.object({
  keys: z.array(
    Closed.extend({
      revoked_at: z.string().nullable(),
      suspended: z.boolean(),
      expires_at: z.string().nullable(),
    }),
  ),
  operators: z.array(Closed.extend({ removed_at: z.string() })),
  accounts: z.array(
    Closed.extend({
      status: z.string(),
      payouts_enabled: z.boolean(),
      // Exports of the version before lack these.
      onboarding_status: z.string().default('approved'),
      auto_payout_enabled: z.boolean().default(true),
    }),
  ),
  /** Stops in force of single accounts, by the id of the account; the version before exports none. */
  stops: z
    .array(
      Closed.extend({
        stop_id: z.uuid(),
        reason: z.string(),
        set_by: z.string(),
        created_at: z.string(),
      }),
    )
    .default([]),
  applications: z.array(Closed),
});

export const AuditExport = z.object({ entries: z.array(AuditRow), closed: ClosedStates });
export type AuditExport = z.output<typeof AuditExport>;
