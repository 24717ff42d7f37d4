import { JOURNAL_KINDS } from '@pixmesh/contracts/internal/journal-kinds';
import { suspenseResolveCommandId } from '@pixmesh/contracts/internal/ledger-command-ids';
import type { BookedJournal } from '@pixmesh/contracts/internal/ledger-reads';
import type { LedgerReads } from '@pixmesh/ledger-client/ledger-reads';
import type { Queryable } from '@pixmesh/postgres/pool';

import { PLATFORM_ACCOUNT_ID } from '#charge/ledger-command.ts';
import { suspenseCreditCommandId } from '#suspense/suspense-commands.ts';

import { type DecidedCredit, findSuspenseCredits } from './received-check.sql.ts';

/** The two halves of a hand-over are commands of two accounts: an outage may book them this far apart. */
const HAND_OVER_MS_MAX = 900_000;

export type MatchedCredits = {
  /** No operator decided them, or not so; or what they give was never the platform's, or still is. */
  unexplained: BookedJournal[];
  /** Their money has not left the platform's suspense yet. */
  unbooked: BookedJournal[];
};

/**
 * Each credit of suspense was decided by an operator, for this account and this much, and is of money that stood in the
 * platform's suspense and has left it. Our decision alone proves nothing: who can write the command as charges can
 * write that row too.
 */
export async function matchSuspenseCredits(
  deps: { db: Queryable; ledger: Pick<LedgerReads, 'findJournals'> },
  journals: readonly BookedJournal[],
): Promise<MatchedCredits> {
  const accounts = new Set(journals.map((one) => one.account_id));
  const decided = await findSuspenseCredits(deps.db, [...accounts]);
  const byCommand = new Map(decided.map((one) => [suspenseCreditCommandId(one.itemId), one]));
  const items = journals.flatMap(({ command_id: id }) => byCommand.get(id)?.itemId ?? []);
  const platforms = await deps.ledger.findJournals(
    items.flatMap((itemId) => [itemId, suspenseResolveCommandId(itemId)]),
  );
  const matched: MatchedCredits = { unexplained: [], unbooked: [] };
  for (const journal of journals) {
    const given = byCommand.get(journal.command_id);
    if (!given || !isGiven(journal, given) || !stoodInSuspense(given, platforms)) {
      matched.unexplained.push(journal);
    } else if (!hasLeft(given, platforms)) {
      const ageMs = Date.now() - new Date(journal.created_at).getTime();
      matched[ageMs > HAND_OVER_MS_MAX ? 'unexplained' : 'unbooked'].push(journal);
    }
  }
  return matched;
}

function isGiven(journal: BookedJournal, given: DecidedCredit): boolean {
  return given.accountId === journal.account_id && given.amount === journal.amount;
}

type Journals = ReadonlyMap<string, BookedJournal>;

/** A part of it may have gone back before. */
function stoodInSuspense({ itemId, amount }: DecidedCredit, journals: Journals): boolean {
  const item = journals.get(itemId);
  const isSuspended = item?.kind === JOURNAL_KINDS['received_pix.suspend'];
  return isSuspended && item.account_id === PLATFORM_ACCOUNT_ID && item.amount >= amount;
}

function hasLeft({ itemId, amount }: DecidedCredit, journals: Journals): boolean {
  const handOver = journals.get(suspenseResolveCommandId(itemId));
  return handOver?.account_id === PLATFORM_ACCOUNT_ID && handOver.amount === amount;
}
