import { JOURNAL_KINDS } from '@pixmesh/contracts/internal/journal-kinds';
import { receivedPixCommandId } from '@pixmesh/contracts/internal/ledger-command-ids';
import type { BookedJournal } from '@pixmesh/contracts/internal/ledger-reads';
import { parseId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import type { Scope } from '@pixmesh/reconciliation/check';
import type { LedgerReads } from '@pixmesh/ledger-client/ledger-reads';
import { LIST_SKEW_MS } from '@pixmesh/reconciliation/list-pages';

import { isBookedAsRecorded } from './compare-received.ts';
import { matchSuspenseCredits } from './match-suspense-credits.ts';
import { findPixOfCharges, listUnownedPix } from './received-check.sql.ts';

/** The command that gives an account money which nobody owned. */
const SUSPENSE_CREDIT = JOURNAL_KINDS['suspense.credit'];
/** Commands that book a received Pix, or give it away. */
const KINDS = [
  JOURNAL_KINDS['received_pix.credit'],
  JOURNAL_KINDS['received_pix.suspend'],
  SUSPENSE_CREDIT,
];
/**
 * Journals that name no Pix of ours and are held in memory: after so many nothing new can be learned from more of them.
 */
const UNEXPLAINED_MAX = 100_000;

type MatchDeps = { db: Queryable; ledger: Pick<LedgerReads, 'findJournals' | 'listJournals'> };

/** What the ledger has booked of received Pix, and we have not, or otherwise. */
type Matched = {
  /**
   * Journals that are of no Pix recorded for the charge they name, or credits that no operator decided, by command id.
   */
  unexplained: Map<string, BookedJournal>;
  /** Credits of suspense whose other half is not booked yet, by command id. */
  handingOver: Map<string, BookedJournal>;
  /** End-to-end ids of our Pix that are booked with another amount, account or end. */
  differing: Set<string>;
};

/**
 * Compares the journals of a run's time, and those that an earlier run had found, with our Pix. A journal names its
 * command and its charge but no end-to-end id, so that ours is found through the charge, however late it was booked.
 */
export async function matchJournals(deps: MatchDeps, scope: Scope): Promise<Matched> {
  const matched: Matched = {
    unexplained: new Map(),
    handingOver: new Map(),
    differing: new Set(),
  };
  const known = await deps.ledger.findJournals(scope.knownIds.filter((id) => parseId(id) !== null));
  await matchPage(deps, [...known.values()], matched);
  const from = scope.since && new Date(scope.since.getTime() - LIST_SKEW_MS);
  const to = new Date(Date.now() + LIST_SKEW_MS);
  for await (const page of deps.ledger.listJournals({ kinds: KINDS, from, to })) {
    scope.signal.throwIfAborted();
    await matchPage(deps, page, matched);
    if (matched.unexplained.size > UNEXPLAINED_MAX) break;
  }
  return matched;
}

async function matchPage(
  deps: MatchDeps,
  page: readonly BookedJournal[],
  matched: Matched,
): Promise<void> {
  const ofPix = page.filter(({ kind }) => kind !== SUSPENSE_CREDIT);
  await matchPix(deps.db, ofPix, matched);
  const ofSuspense = page.filter(({ kind }) => kind === SUSPENSE_CREDIT);
  if (ofSuspense.length === 0) return;
  const { unexplained, unbooked } = await matchSuspenseCredits(deps, ofSuspense);
  for (const journal of unexplained) matched.unexplained.set(journal.command_id, journal);
  for (const journal of unbooked) matched.handingOver.set(journal.command_id, journal);
}

async function matchPix(
  db: Queryable,
  journals: readonly BookedJournal[],
  { unexplained, differing }: Matched,
): Promise<void> {
  const charges = new Set(journals.flatMap(({ resource_id }) => resource_id ?? []));
  const recorded = await findPixOfCharges(db, [...charges]);
  // A Pix without an owner names no charge. They are few, and each is an operator's task.
  const isUnownedNamed = journals.some(({ resource_id }) => resource_id === null);
  if (isUnownedNamed) recorded.push(...(await listUnownedPix(db, UNEXPLAINED_MAX)));
  const ours = new Map(recorded.map((pix) => [receivedPixCommandId(pix.endToEndId), pix]));
  for (const journal of journals) {
    const pix = ours.get(journal.command_id);
    if (pix === undefined) unexplained.set(journal.command_id, journal);
    else if (!isBookedAsRecorded(journal, pix)) differing.add(pix.endToEndId);
  }
}
