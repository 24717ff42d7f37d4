import {
  holdReleaseCommandId,
  holdSettleCommandId,
} from '@pixmesh/contracts/internal/ledger-command-ids';
import type { BookedJournal } from '@pixmesh/contracts/internal/ledger-reads';
import { TOPICS } from '@pixmesh/contracts/topics';
import type { Database } from '@pixmesh/postgres/pool';
import type { Check, FoundBreak } from '@pixmesh/reconciliation/check';
import type { LedgerReads } from '@pixmesh/ledger-client/ledger-reads';
import { comparePages, createResources } from '@pixmesh/reconciliation/resources';

import { matchJournals } from './match-journals.ts';
import { type EndedPayout, findEndedPayouts, listEndedPayouts } from './compared-payouts.sql.ts';

/** Two commands each fit into one look-up of the ledger. */
const PAYOUTS_PER_PAGE = 500;

export type SettlementCheckDeps = {
  db: Database;
  ledger: Pick<LedgerReads, 'findJournals' | 'listJournals'>;
};

/**
 * A completed payout has settled its hold, a failed or canceled one has released it, each once, in full, and never
 * both (I8); money is credited as returned, set aside or accepted where that is recorded. Left: our payouts, their
 * returns, contradictions and accepted items; right: the journals of their holds, and of these.
 */
export function settlementCheck(deps: SettlementCheckDeps): Check {
  const payoutsIn = createResources<EndedPayout>({
    db: deps.db,
    topic: TOPICS.payoutsEvents,
    pageSize: PAYOUTS_PER_PAGE,
    read: (page) => listEndedPayouts(deps.db, page),
    find: (ids) => findEndedPayouts(deps.db, ids),
  });
  return {
    name: 'settlement',
    run: async (scope) => {
      const booked = await matchJournals(deps, scope);
      const ended = await comparePages(payoutsIn(scope), scope, (payouts) =>
        compareAll(deps, payouts),
      );
      return {
        compared: booked.compared + ended.compared,
        breaks: [...booked.breaks, ...ended.breaks],
      };
    },
  };
}

async function compareAll(
  deps: SettlementCheckDeps,
  payouts: readonly EndedPayout[],
): Promise<FoundBreak[]> {
  const ids = payouts.flatMap((payout) => [
    holdSettleCommandId(payout),
    holdReleaseCommandId(payout),
  ]);
  const journals = await deps.ledger.findJournals(ids);
  return payouts.flatMap((payout) =>
    compareEnd(payout, {
      settle: journals.get(holdSettleCommandId(payout)) ?? null,
      release: journals.get(holdReleaseCommandId(payout)) ?? null,
    }),
  );
}

type Ends = { settle: BookedJournal | null; release: BookedJournal | null };

/** The differences of one ended payout. */
function compareEnd(payout: EndedPayout, ends: Ends): FoundBreak[] {
  const { id, accountId, endedAt: changedAt } = payout;
  const amountCents = payout.amount + payout.fee;
  const [wanted, other] = payout.status === 'completed' ? WHEN_COMPLETED : WHEN_RETURNED;
  const journal = ends[wanted];
  const breaks: FoundBreak[] = [];
  if (journal === null) {
    // The release of a canceled payout may be on its way; no payout is completed or failed before its journal.
    const of = payout.status === 'canceled' ? null : accountId;
    const expected = wanted;
    breaks.push({ kind: 'missing_right', id, accountId: of, expected, amountCents, changedAt });
  } else if (journal.amount !== amountCents || journal.resource_id !== id) {
    const [expected, found] = [
      `${amountCents} of ${id}`,
      `${journal.amount} of ${journal.resource_id}`,
    ];
    const off = journal.amount - amountCents;
    breaks.push({ kind: 'amount', id, accountId, expected, found, amountCents: off, changedAt });
  }
  if (ends[other] !== null) {
    breaks.push({
      kind: 'state',
      id,
      accountId,
      expected: payout.status,
      found: other,
      amountCents,
      changedAt,
    });
  }
  return breaks;
}

const WHEN_COMPLETED = ['settle', 'release'] as const;
const WHEN_RETURNED = ['release', 'settle'] as const;
