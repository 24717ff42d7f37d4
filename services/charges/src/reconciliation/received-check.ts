import { listReturnContradictions } from '@pixmesh/acquirer-lists/return-contradictions.sql';
import type { Acquirer, ReceivedPix } from '@pixmesh/acquirer/acquirer';
import { foundOrNull } from '@pixmesh/acquirer/found-or-null';
import { isPaidTo } from '@pixmesh/acquirer/is-paid-to';
import { receivedPixCommandId } from '@pixmesh/contracts/internal/ledger-command-ids';
import { parseId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { Check, FoundBreak, Scope } from '@pixmesh/reconciliation/check';
import type { LedgerReads } from '@pixmesh/ledger-client/ledger-reads';
import {
  type Listed,
  type ListedPage,
  listInParts,
  type TimeWindow,
  unreadableBreaks,
  windowToList,
} from '@pixmesh/reconciliation/list-pages';
import { createSieve } from '@pixmesh/reconciliation/walk';

import { findReturns } from '#returns/pix-returns.sql.ts';

import {
  type Compared,
  compareReceived,
  unbookedHandOver,
  unexplainedJournal,
} from './compare-received.ts';
import { matchJournals } from './match-journals.ts';
import { bookingOf, compareReturn, pairReturns, pixOf } from './compare-return.ts';
import {
  findRecordedPix,
  findUnbookedReturns,
  listRecordedPix,
  type RecordedPix,
} from './received-check.sql.ts';

/** Items whose journals are looked up at once. */
const ITEMS_PER_STEP = 1_000;

export type ReceivedCheckDeps = {
  db: Database;
  acquirer: Pick<Acquirer, 'listReceived' | 'getReceived'>;
  ledger: Pick<LedgerReads, 'findJournals' | 'listJournals'>;
  /** The installation's own Pix key: money of another one is not ours (decision 217). */
  pixKey: string;
};

/**
 * Every Pix that the acquirer received is recorded here and booked in the ledger, once, with the same amount and
 * time, and nothing else is (I6). Left: the acquirer; right: our record and its journal. The journals are read first:
 * whatever they book has been recorded when our rows are read. A Pix that the acquirer lists in a form that we cannot
 * read is a break by itself, and hides no other.
 */
export function receivedCheck(deps: ReceivedCheckDeps): Check {
  return {
    name: 'received',
    run: async (scope) => {
      const breaks: FoundBreak[] = [];
      const unreadable: Listed<never>['unreadable'] = [];
      const sieve = createSieve();
      let compared = 0;
      const { unexplained, handingOver, differing } = await matchJournals(deps, scope);
      for (const id of scope.knownIds.filter(isEndToEndId)) differing.add(pixOf(id));
      for (const { endToEndId } of await listReturnContradictions(deps.db))
        differing.add(endToEndId);
      for (const id of scope.since === null ? [] : await findUnbookedReturns(deps.db, scope.since))
        differing.add(id);
      const asking = { ...deps, signal: scope.signal };
      const readPage = (page: ListedPage) => deps.acquirer.listReceived(page);
      for await (const part of listInParts(readPage, windowToList(scope))) {
        scope.signal.throwIfAborted();
        await compare(await pairPart(asking, part));
      }
      await compare(await pairRecorded(asking, [...differing]));
      compared += unexplained.size;
      breaks.push(...[...unexplained.values()].map(unexplainedJournal));
      breaks.push(...[...handingOver.values()].map(unbookedHandOver));
      breaks.push(...unreadableBreaks('received', unreadable));
      return { compared, breaks };

      async function compare({ items, unreadable: unread }: Pairs): Promise<void> {
        unreadable.push(...unread);
        const pairs = items.filter(({ endToEndId }) => sieve.isNew(endToEndId));
        compared += pairs.length;
        breaks.push(...(await compareAll(deps, pairs, scope)));
        for (const { endToEndId, theirs, ours } of pairs) {
          differing.delete(endToEndId);
          if (theirs ?? ours) unexplained.delete(receivedPixCommandId(endToEndId));
        }
      }
    },
  };
}

/** Aborted once the run has lost its lease. */
type RunDeps = ReceivedCheckDeps & { signal: AbortSignal };

type Pair = Omit<Compared, 'journal'>;
type Pairs = Listed<Pair>;

async function pairPart(
  deps: RunDeps,
  { window, ...listed }: Listed<ReceivedPix> & { window: TimeWindow },
): Promise<Pairs> {
  const theirs = listed.items.filter((pix) => isPaidTo(pix, deps.pixKey));
  const byId = new Map(theirs.map((pix) => [pix.endToEndId, pix]));
  const ours = new Map(
    (await listRecordedPix(deps.db, window)).map((pix) => [pix.endToEndId, pix]),
  );
  const elsewhere = [...byId.keys()].filter((id) => !ours.has(id));
  for (const pix of await findRecordedPix(deps.db, elsewhere)) ours.set(pix.endToEndId, pix);
  const pairs = [...byId].map(([endToEndId, pix]) => ({
    endToEndId,
    theirs: pix,
    ours: ours.get(endToEndId) ?? null,
  }));
  const unread = new Set(listed.unreadable.map(({ endToEndId }) => endToEndId));
  const alone = [...ours.keys()].filter((id) => !byId.has(id) && !unread.has(id));
  const rest = await pairEach(deps, alone, ours);
  return {
    items: [...pairs, ...rest.items],
    unreadable: [...listed.unreadable, ...rest.unreadable],
  };
}

/** What an earlier run had found, and what only we know of: the acquirer is asked one by one. */
async function pairRecorded(deps: RunDeps, ids: readonly string[]): Promise<Pairs> {
  const recorded = await findRecordedPix(deps.db, ids);
  return await pairEach(deps, ids, new Map(recorded.map((pix) => [pix.endToEndId, pix])));
}

async function pairEach(
  deps: RunDeps,
  ids: readonly string[],
  ours: ReadonlyMap<string, RecordedPix>,
): Promise<Pairs> {
  const pairs: Pairs = { items: [], unreadable: [] };
  for (const endToEndId of ids) {
    deps.signal.throwIfAborted();
    const outcome = await deps.acquirer.getReceived(endToEndId);
    if (outcome.kind === 'unknown' && outcome.cause === 'unreadable') {
      pairs.unreadable.push({ endToEndId });
      continue;
    }
    const found = foundOrNull(outcome);
    const theirs = found !== null && isPaidTo(found, deps.pixKey) ? found : null;
    pairs.items.push({ endToEndId, theirs, ours: ours.get(endToEndId) ?? null });
  }
  return pairs;
}

async function compareAll(
  deps: ReceivedCheckDeps,
  pairs: readonly Pair[],
  scope: Scope,
): Promise<FoundBreak[]> {
  const breaks: FoundBreak[] = [];
  for (let start = 0; start < pairs.length; start += ITEMS_PER_STEP) {
    scope.signal.throwIfAborted();
    const step = pairs.slice(start, start + ITEMS_PER_STEP);
    const journals = await deps.ledger.findJournals(
      step.map((pair) => receivedPixCommandId(pair.endToEndId)),
    );
    breaks.push(
      ...step.flatMap((pair) =>
        compareReceived({
          ...pair,
          journal: journals.get(receivedPixCommandId(pair.endToEndId)) ?? null,
        }),
      ),
      ...(await compareReturns(deps, step)),
    );
  }
  return breaks;
}

/** Of a Pix that both sides know, every return is recorded and booked, and nothing else is. */
async function compareReturns(
  deps: ReceivedCheckDeps,
  pairs: readonly Pair[],
): Promise<FoundBreak[]> {
  const known = pairs.filter(({ ours, theirs }) => ours !== null && theirs !== null);
  const recorded = await findReturns(
    deps.db,
    known.map(({ endToEndId }) => endToEndId),
  );
  const compared = pairReturns(known, recorded);
  const ids = compared.flatMap(({ ours }) => (ours === null ? [] : (bookingOf(ours) ?? [])));
  const journals = ids.length === 0 ? new Map() : await deps.ledger.findJournals(ids);
  return compared.flatMap((pair) => compareReturn(pair, journals));
}

/** Other ids of breaks are commands, which the ledger knows. */
function isEndToEndId(id: string): boolean {
  return parseId(id) === null;
}
