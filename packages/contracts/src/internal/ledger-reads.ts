import { z } from 'zod';

import { orNull } from '../http/optional-field.ts';
import { Timestamp } from '../timestamp.ts';
import { WireBalance } from '../wire-cents.ts';

/** Commands in one look-up, and journals in one page, at most. */
export const LEDGER_PAGE_MAX = 1_000;

/** A booked command as other services compare it: its journal in one line. */
export const BookedJournal = z.object({
  command_id: z.uuid(),
  account_id: z.uuid(),
  /** One of `JOURNAL_KINDS`, or what a ledger that is newer than its caller has beside them. */
  kind: z.string(),
  resource_id: z.uuid().nullable(),
  /** Sum of the journal's credits, in cents. */
  amount: WireBalance,
  created_at: Timestamp,
});
export type BookedJournal = z.output<typeof BookedJournal>;

export const LOOKUP_JOURNALS_PATH = '/internal/journals/lookup';

/**
 * `POST` to `LOOKUP_JOURNALS_PATH`: those of the commands that were decided, in any order; one that moved nothing has
 * the amount 0.
 */
export const LookupJournalsBody = z.object({
  command_ids: z.array(z.uuid()).min(1).max(LEDGER_PAGE_MAX),
});

/**
 * `GET /internal/journals?kinds=a,b&created_from=&created_to=&starting_after=&limit=`: journals of these kinds by
 * time, oldest first, `starting_after` a command id.
 */
export const BookedJournals = z.object({ data: z.array(BookedJournal), has_more: z.boolean() });
export type BookedJournals = z.output<typeof BookedJournals>;

/** `GET /internal/totals`: sums over all owners, by kind of account, in cents; all from one snapshot. */
export const LedgerTotals = z.object({
  available: WireBalance,
  pending: WireBalance,
  held: WireBalance,
  blocked: WireBalance,
  suspense: WireBalance,
  acquirer_clearing: WireBalance,
  fees: WireBalance,
  acquirer_tariffs: WireBalance,
  /** By the clock of `created_at`; the version before does not say it. */
  read_at: orNull(Timestamp),
});
export type LedgerTotals = z.output<typeof LedgerTotals>;
