import { listReturnContradictions } from '@pixmesh/acquirer-lists/return-contradictions.sql';
import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { holdSettleCommandId } from '@pixmesh/contracts/internal/ledger-command-ids';
import { TOPICS } from '@pixmesh/contracts/topics';
import { fromAcquirerId, parseId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { Check, FoundBreak, Scope } from '@pixmesh/reconciliation/check';
import type { LedgerReads } from '@pixmesh/ledger-client/ledger-reads';
import { comparePages, createResources } from '@pixmesh/reconciliation/resources';
import { createWalk } from '@pixmesh/reconciliation/walk';

import { type CompareEach, createCompareEach } from './compare-each.ts';
import {
  contradictedHold,
  compareHold,
  compareRefund,
  compareSettled,
  miscounted,
  missingHold,
} from './compare-refund.ts';
import {
  type ComparedRefund,
  findComparedRefunds,
  findMiscounted,
  findRefundsByHold,
  findReturnedSince,
  listComparedRefunds,
  listContradicted,
  listEndedSince,
  listReturnedCharges,
} from './refund-check.sql.ts';

/** Each is asked for by itself at the acquirer, a few at once; their journals in one look-up. */
const REFUNDS_PER_PAGE = 100;
/** Charges whose returns are added up in one statement. */
const CHARGES_PER_PAGE = 1_000;

export type RefundCheckDeps = {
  db: Database;
  acquirer: Pick<Acquirer, 'getRefund'>;
  ledger: Pick<LedgerReads, 'findJournals' | 'listOpenHolds'>;
};

/**
 * Every refund is at the acquirer what it is here; what is under way has its open hold, what is completed has settled
 * it in full, and the charge counts exactly what went back (I2). Returns that no refund of ours explains are compared
 * by `received`. A refund whose answer cannot be read, or does not come, hides no other.
 */
export function refundCheck(deps: RefundCheckDeps): Check {
  const refundsIn = createResources<ComparedRefund>({
    db: deps.db,
    topic: TOPICS.chargesEvents,
    pageSize: REFUNDS_PER_PAGE,
    read: (page) => listComparedRefunds(deps.db, page),
    find: (ids) => findComparedRefunds(deps.db, ids),
    touchedSince: async (since) => [
      ...(await listEndedSince(deps.db, since)),
      ...(await listReturnContradictions(deps.db)).flatMap(({ id }) => fromAcquirerId(id) ?? []),
    ],
  });
  return {
    name: 'refund',
    run: async (scope) => {
      const held = await compareHolds(deps);
      const counted = await compareCounts(deps, scope);
      const compareEach = createCompareEach(scope.signal);
      const returned = await comparePages(refundsIn(scope), scope, (refunds) =>
        compareReturns(deps, refunds, compareEach),
      );
      return {
        compared: held.compared + returned.compared,
        breaks: onePerKind([...held.breaks, ...counted, ...returned.breaks]),
      };
    },
  };
}

/** Both lists are short: every run reads them whole. The holds first, so that what ends in between shows once. */
async function compareHolds({ db, ledger }: RefundCheckDeps) {
  const holds = await ledger.listOpenHolds('refund');
  const refunds = await findRefundsByHold(db, [...holds.keys()]);
  const breaks = [
    ...[...holds.values()].flatMap((hold) => compareHold(hold, refunds.get(hold.hold_id) ?? null)),
    ...[...refunds.values()].filter(({ holdId }) => !holds.has(holdId)).map(missingHold),
    ...(await listContradicted(db)).map(contradictedHold),
  ];
  return { compared: new Set([...holds.keys(), ...refunds.keys()]).size, breaks };
}

async function compareCounts({ db }: RefundCheckDeps, scope: Scope): Promise<FoundBreak[]> {
  const { breaks } = await comparePages(returnedCharges(db, scope), scope, async (ids) =>
    (await findMiscounted(db, ids)).map(miscounted),
  );
  return breaks;
}

/** Ids of the charges whose count is compared, a page at a time. */
async function* returnedCharges(db: Database, scope: Scope): AsyncGenerator<string[]> {
  const known = scope.knownIds.filter((id) => parseId(id) !== null);
  const since = scope.since === null ? [] : await findReturnedSince(db, scope.since);
  const named = [...known, ...since];
  for (let start = 0; start < named.length; start += CHARGES_PER_PAGE) {
    yield named.slice(start, start + CHARGES_PER_PAGE);
  }
  if (scope.since !== null) return;
  yield* createWalk<string>({
    read: (after, limit) => listReturnedCharges(db, { after, limit }),
    idOf: (id) => id,
    pageSize: CHARGES_PER_PAGE,
  }).all();
}

async function compareReturns(
  { acquirer, ledger }: RefundCheckDeps,
  refunds: readonly ComparedRefund[],
  compareEach: CompareEach,
): Promise<FoundBreak[]> {
  const breaks = await compareEach(
    refunds.filter(({ wasSent }) => wasSent),
    ({ endToEndId, returnId }) => acquirer.getRefund(endToEndId, returnId),
    compareRefund,
  );
  const completed = refunds.filter(({ status }) => status === 'completed');
  const journals = await ledger.findJournals(completed.map(holdSettleCommandId));
  const settled = completed.flatMap((ours) =>
    compareSettled(ours, journals.get(holdSettleCommandId(ours)) ?? null),
  );
  return [...breaks, ...settled];
}

/** A refund may differ from several records in the same way: the first break shows it. */
function onePerKind(breaks: readonly FoundBreak[]): FoundBreak[] {
  const first = new Map<string, FoundBreak>();
  for (const found of breaks) {
    const key = `${found.kind} ${found.id}`;
    if (!first.has(key)) first.set(key, found);
  }
  return [...first.values()];
}
