import type { Acquirer, ReceivedPix } from '@pixmesh/acquirer/acquirer';
import type { BookedJournal } from '@pixmesh/contracts/internal/ledger-reads';
import { deriveCommandId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { Check, FoundBreak, Scope } from '@pixmesh/reconciliation/check';
import type { LedgerReads } from '@pixmesh/reconciliation/ledger-reads';
import {
  foundOrNull,
  listAllPages,
  type TimeWindow,
  windowsToList,
} from '@pixmesh/reconciliation/list-pages';

import { findRecordedPix, listRecordedPix, type RecordedPix } from './received-check.sql.ts';

/** Items whose journals are looked up at once. */
const ITEMS_PER_STEP = 1_000;

export type ReceivedCheckDeps = {
  db: Database;
  acquirer: Pick<Acquirer, 'listReceived' | 'getReceived'>;
  ledger: Pick<LedgerReads, 'findJournals'>;
};

/** What is known of one Pix on the three sides; its end-to-end id is the key. */
type Compared = {
  endToEndId: string;
  theirs: ReceivedPix | null;
  ours: RecordedPix | null;
  journal: BookedJournal | null;
};

/**
 * Every Pix that the acquirer received is recorded here and booked in the ledger, once, with the same amount and
 * time, and nothing else is (I6). Left: the acquirer; right: our record and its journal.
 */
export function receivedCheck(deps: ReceivedCheckDeps): Check {
  return {
    name: 'received',
    run: async (scope) => {
      const breaks: FoundBreak[] = [];
      const seen = new Set<string>();
      for (const window of windowsToList(scope)) {
        scope.signal.throwIfAborted();
        const pairs = await pairWindow(deps, window);
        breaks.push(...(await judgeAll(deps, pairs, scope)));
        for (const { endToEndId } of pairs) seen.add(endToEndId);
      }
      const known = scope.knownIds.filter((id) => !seen.has(id));
      breaks.push(...(await judgeAll(deps, await pairKnown(deps, known), scope)));
      return { compared: seen.size + known.length, breaks };
    },
  };
}

type Pair = Omit<Compared, 'journal'>;

async function pairWindow(deps: ReceivedCheckDeps, window: TimeWindow): Promise<Pair[]> {
  const theirs = await listAllPages((page) => deps.acquirer.listReceived(page), window);
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
  const alone = [...ours.values()].filter(({ endToEndId }) => !byId.has(endToEndId));
  return [...pairs, ...(await pairOurs(deps, alone))];
}

/** What an earlier run had found, and what only we know of: the acquirer is asked one by one. */
async function pairKnown(deps: ReceivedCheckDeps, ids: readonly string[]): Promise<Pair[]> {
  const ours = new Map((await findRecordedPix(deps.db, ids)).map((pix) => [pix.endToEndId, pix]));
  const pairs: Pair[] = [];
  for (const endToEndId of ids) {
    const theirs = foundOrNull(await deps.acquirer.getReceived(endToEndId));
    pairs.push({ endToEndId, theirs, ours: ours.get(endToEndId) ?? null });
  }
  return pairs;
}

async function pairOurs(deps: ReceivedCheckDeps, alone: readonly RecordedPix[]): Promise<Pair[]> {
  const pairs: Pair[] = [];
  for (const ours of alone) {
    const theirs = foundOrNull(await deps.acquirer.getReceived(ours.endToEndId));
    pairs.push({ endToEndId: ours.endToEndId, theirs, ours });
  }
  return pairs;
}

async function judgeAll(
  deps: ReceivedCheckDeps,
  pairs: readonly Pair[],
  scope: Scope,
): Promise<FoundBreak[]> {
  const breaks: FoundBreak[] = [];
  for (let start = 0; start < pairs.length; start += ITEMS_PER_STEP) {
    scope.signal.throwIfAborted();
    const step = pairs.slice(start, start + ITEMS_PER_STEP);
    const journals = await deps.ledger.findJournals(step.map(commandIdOf));
    breaks.push(
      ...step.flatMap((pair) =>
        judgeReceived({ ...pair, journal: journals.get(commandIdOf(pair)) ?? null }),
      ),
    );
  }
  return breaks;
}

function commandIdOf({ endToEndId }: { endToEndId: string }): string {
  return deriveCommandId('received_pix', endToEndId);
}

/** The differences of one Pix; none when all sides agree, or none knows of it. */
export function judgeReceived({ endToEndId: id, theirs, ours, journal }: Compared): FoundBreak[] {
  if (theirs === null) return ours === null ? [] : [missingLeft(id, ours)];
  if (ours === null) return [missingRight(id, theirs)];
  const breaks: FoundBreak[] = [];
  const changedAt = ours.recordedAt;
  if (theirs.amountCents !== ours.amount) {
    breaks.push({ kind: 'amount', id, changedAt, ...amounts(theirs.amountCents, ours.amount) });
  } else if (journal !== null && journal.amount !== ours.amount) {
    breaks.push({ kind: 'amount', id, changedAt, ...amounts(ours.amount, journal.amount) });
  }
  if (theirs.paidAt.getTime() !== ours.paidAt.getTime()) {
    const [expected, found] = [theirs.paidAt.toISOString(), ours.paidAt.toISOString()];
    breaks.push({ kind: 'date', id, expected, found, changedAt });
  }
  if (journal !== null && isSuspense(journal) !== (ours.disposition === 'suspense')) {
    breaks.push({ kind: 'state', id, expected: ours.disposition, found: journal.kind, changedAt });
  }
  if (journal === null) {
    breaks.push({
      kind: 'unbooked',
      id,
      expected: ours.disposition,
      amountCents: ours.amount,
      changedAt,
    });
  }
  return breaks;
}

/** Credit and suspense of one Pix share their command id: the ledger has booked one of them. */
function isSuspense(journal: BookedJournal): boolean {
  return journal.kind.includes('suspend');
}

function missingLeft(id: string, ours: RecordedPix): FoundBreak {
  const found = String(ours.amount);
  return { kind: 'missing_left', id, found, amountCents: ours.amount, changedAt: ours.recordedAt };
}

function missingRight(id: string, theirs: ReceivedPix): FoundBreak {
  const { amountCents, paidAt: changedAt } = theirs;
  return { kind: 'missing_right', id, expected: String(amountCents), amountCents, changedAt };
}

function amounts(expected: bigint, found: bigint) {
  return { expected: String(expected), found: String(found), amountCents: found - expected };
}
