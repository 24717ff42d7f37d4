import { receivedPixCommandId } from '@pixmesh/contracts/internal/ledger-command-ids';
import type { BookedJournal } from '@pixmesh/contracts/internal/ledger-reads';
import { TOPICS } from '@pixmesh/contracts/topics';
import type { Database } from '@pixmesh/postgres/pool';
import type { Check, FoundBreak } from '@pixmesh/reconciliation/check';
import type { LedgerReads } from '@pixmesh/ledger-client/ledger-reads';
import { LIST_SKEW_MS } from '@pixmesh/reconciliation/list-pages';
import { comparePages, createResources } from '@pixmesh/reconciliation/resources';

import {
  type ComparedCredit,
  findChargesPaidSince,
  findCredits,
  listCredits,
} from './credit-check.sql.ts';

const CHARGES_PER_PAGE = 1_000;

export type CreditCheckDeps = { db: Database; ledger: Pick<LedgerReads, 'findJournals'> };

/**
 * A charge that is paid, or was, has exactly one credit, and the ledger has booked it in full; a charge whose Pix
 * was accepted, or credited, becomes paid. Left: our charges; right: their credits.
 */
export function creditCheck(deps: CreditCheckDeps): Check {
  const chargesIn = createResources<ComparedCredit>({
    db: deps.db,
    topic: TOPICS.chargesEvents,
    pageSize: CHARGES_PER_PAGE,
    read: (page) => listCredits(deps.db, page),
    find: (ids) => findCredits(deps.db, ids),
    touchedSince: (since) =>
      findChargesPaidSince(deps.db, new Date(since.getTime() - LIST_SKEW_MS)),
  });
  return {
    name: 'credit',
    run: (scope) => comparePages(chargesIn(scope), scope, (charges) => compareAll(deps, charges)),
  };
}

async function compareAll(
  deps: CreditCheckDeps,
  charges: readonly ComparedCredit[],
): Promise<FoundBreak[]> {
  const ids = charges.flatMap(({ endToEndId }) =>
    endToEndId === null ? [] : [receivedPixCommandId(endToEndId)],
  );
  const journals = await deps.ledger.findJournals(ids);
  return charges.flatMap((charge) =>
    compareCredit(
      charge,
      charge.endToEndId === null
        ? null
        : (journals.get(receivedPixCommandId(charge.endToEndId)) ?? null),
    ),
  );
}

/** The differences of one charge whose Pix was accepted or credited. */
function compareCredit(charge: ComparedCredit, journal: BookedJournal | null): FoundBreak[] {
  const { id, accountId, amount, creditedAt: changedAt } = charge;
  const breaks: FoundBreak[] = [];
  if (!charge.isPaid) {
    breaks.push({ kind: 'state', id, expected: 'paid', found: charge.status, changedAt });
  }
  if (charge.credits > 1) {
    const found = `${charge.credits} credits`;
    breaks.push({ kind: 'missing_left', id, accountId, expected: '1 credit', found, changedAt });
  }
  if (charge.credits === 0 || journal === null) {
    const found = charge.credits === 0 ? 'no record' : 'no journal';
    breaks.push({
      kind: 'missing_right',
      id,
      expected: String(amount),
      found,
      amountCents: amount,
      changedAt,
    });
  } else if (journal.amount !== amount) {
    const [expected, found] = [String(amount), String(journal.amount)];
    breaks.push({
      kind: 'amount',
      id,
      accountId,
      expected,
      found,
      amountCents: journal.amount - amount,
      changedAt,
    });
  } else if (journal.resource_id !== id || journal.account_id !== charge.accountId) {
    const found = `booked for ${journal.resource_id ?? journal.account_id}`;
    const to = journal.kind.includes('suspend') ? null : journal.account_id;
    const expected = 'its own credit';
    breaks.push({ kind: 'state', id, accountId: to, expected, found, changedAt });
  }
  return breaks;
}
