import { JOURNAL_KINDS, type JournalKind } from '@pixmesh/contracts/internal/journal-kinds';
import { suspenseResolveCommandId } from '@pixmesh/contracts/internal/ledger-command-ids';
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

import { payoutReturnCreditCommandId, payoutSuspendCommandId } from '#payouts/ledger-commands.ts';

import {
  findAcceptedItems,
  findPayoutsById,
  findReturnsOfPayouts,
} from './compared-payouts.sql.ts';

/** What the commands that move money of an ended payout book. */
const RETURN_CREDIT = JOURNAL_KINDS['payout_return.credit'];
const SUSPENDED = JOURNAL_KINDS['payout.suspend'];
/** Also of items that charges has booked. */
const RESOLVED = JOURNAL_KINDS['suspense.resolve'];
const KINDS: readonly JournalKind[] = [RETURN_CREDIT, SUSPENDED, RESOLVED];

type MatchDeps = { db: Queryable; ledger: Pick<LedgerReads, 'findJournals' | 'listJournals'> };

/** A journal that our records explain. */
type Explained = Pick<BookedJournal, 'command_id' | 'kind' | 'account_id' | 'amount'>;

/**
 * Compares what the ledger has booked of ended payouts, in the run's time and where an earlier run had found something,
 * with the returns, contradictions and accepted items that we recorded. Each is recorded in the commit that orders its
 * journal: one without its record is never on its way.
 */
export async function matchJournals(
  { db, ledger }: MatchDeps,
  scope: Scope,
): Promise<CheckOutcome> {
  const outcome: CheckOutcome = { compared: 0, breaks: [] };
  const known = await ledger.findJournals(scope.knownIds.filter((id) => parseId(id) !== null));
  await matchPage([...known.values()].filter(({ kind }) => KINDS.some((one) => one === kind)));
  const from = scope.since && new Date(scope.since.getTime() - LIST_SKEW_MS);
  const to = new Date(Date.now() + LIST_SKEW_MS);
  for await (const page of ledger.listJournals({ kinds: KINDS, from, to })) {
    scope.signal.throwIfAborted();
    await matchPage(page.filter(({ command_id: id }) => !known.has(id)));
  }
  return outcome;

  async function matchPage(journals: readonly BookedJournal[]): Promise<void> {
    const named = journals.flatMap(({ resource_id: id }) => id ?? []);
    const { payoutIds, byCommand } = await readExplained(db, [...new Set(named)]);
    for (const journal of journals) {
      if (journal.kind === RESOLVED && !payoutIds.has(journal.resource_id)) continue;
      outcome.compared += 1;
      const ours = byCommand.get(journal.command_id);
      if (!ours || !isBooked(journal, ours)) outcome.breaks.push(unexplained(journal));
    }
  }
}

/** The journals that some payouts explain, by command id. */
async function readExplained(db: Queryable, ids: readonly string[]) {
  const payouts = await findPayoutsById(db, ids);
  const suspended = payouts.flatMap(({ id, contradiction, accountId, amount }) => {
    if (contradiction === null) return [];
    const commandId = payoutSuspendCommandId({ id }, contradiction);
    return [explained(commandId, SUSPENDED, { accountId, amount })];
  });
  const items = await findAcceptedItems(
    db,
    suspended.map(({ command_id: itemId }) => itemId),
  );
  const accepted = items.map((item) =>
    explained(suspenseResolveCommandId(item.itemId), RESOLVED, item),
  );
  const returned = (await findReturnsOfPayouts(db, ids)).map((one) =>
    explained(payoutReturnCreditCommandId(one.endToEndId, one.returnId), RETURN_CREDIT, one),
  );
  const all = [...suspended, ...accepted, ...returned];
  return {
    payoutIds: new Set<string | null>(payouts.map(({ id }) => id)),
    byCommand: new Map(all.map((one) => [one.command_id, one])),
  };
}

function explained(
  commandId: string,
  kind: JournalKind,
  { accountId, amount }: { accountId: string; amount: bigint },
): Explained {
  return { command_id: commandId, kind, account_id: accountId, amount };
}

function isBooked(journal: BookedJournal, ours: Explained): boolean {
  return (
    ours.kind === journal.kind &&
    ours.account_id === journal.account_id &&
    ours.amount === journal.amount
  );
}

function unexplained(journal: BookedJournal): FoundBreak {
  const { command_id: id, account_id: accountId, amount: amountCents } = journal;
  const found = `${journal.kind} for ${journal.resource_id}`;
  return { kind: 'missing_left', id, accountId, found, amountCents, changedAt: NEVER_IN_FLIGHT };
}
