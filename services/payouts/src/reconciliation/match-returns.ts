import type { BookedJournal } from '@pixmesh/contracts/internal/ledger-reads';
import { parseId } from '@pixmesh/kernel/ids';
import type { LedgerReads } from '@pixmesh/ledger-client/ledger-reads';
import type { Queryable } from '@pixmesh/postgres/pool';
import {
  type CheckOutcome,
  type FoundBreak,
  NEVER_IN_FLIGHT,
  type Scope,
} from '@pixmesh/reconciliation/check';
import { LIST_SKEW_MS } from '@pixmesh/reconciliation/list-pages';

import { payoutReturnCreditCommandId } from '#payouts/ledger-commands.ts';

import { findReturnsOfPayouts } from './compared-payouts.sql.ts';

/** The command that credits money of a payout that came back. */
const KIND = 'credit_payout_return';

type MatchDeps = { db: Queryable; ledger: Pick<LedgerReads, 'findJournals' | 'listJournals'> };

/**
 * Compares the credits of returned money, those of the run's time and those that an earlier run had found, with the
 * returns that we recorded. A return is recorded in the commit that orders its credit: a credit without one is never on
 * its way.
 */
export async function matchReturns({ db, ledger }: MatchDeps, scope: Scope): Promise<CheckOutcome> {
  const outcome: CheckOutcome = { compared: 0, breaks: [] };
  const known = await ledger.findJournals(scope.knownIds.filter((id) => parseId(id) !== null));
  await matchPage([...known.values()].filter(({ kind }) => kind === KIND));
  const from = scope.since && new Date(scope.since.getTime() - LIST_SKEW_MS);
  const to = new Date(Date.now() + LIST_SKEW_MS);
  for await (const page of ledger.listJournals({ kinds: [KIND], from, to })) {
    scope.signal.throwIfAborted();
    await matchPage(page.filter(({ command_id: id }) => !known.has(id)));
  }
  return outcome;

  async function matchPage(journals: readonly BookedJournal[]): Promise<void> {
    const payoutIds = journals.flatMap(({ resource_id: id }) => id ?? []);
    const returns = await findReturnsOfPayouts(db, [...new Set(payoutIds)]);
    const byCommand = new Map(
      returns.map((one) => [payoutReturnCreditCommandId(one.endToEndId, one.returnId), one]),
    );
    for (const journal of journals) {
      const ours = byCommand.get(journal.command_id);
      const isOurs = ours?.accountId === journal.account_id && ours.amount === journal.amount;
      if (!isOurs) outcome.breaks.push(unexplained(journal));
    }
    outcome.compared += journals.length;
  }
}

function unexplained(journal: BookedJournal): FoundBreak {
  const { command_id: id, account_id: accountId, amount: amountCents } = journal;
  const found = `${journal.kind} for ${journal.resource_id}`;
  return { kind: 'missing_left', id, accountId, found, amountCents, changedAt: NEVER_IN_FLIGHT };
}
