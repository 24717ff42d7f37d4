import { listReturnContradictions } from '@pixmesh/acquirer-lists/return-contradictions.sql';
import type { Acquirer, AcquirerPayout, Lookup } from '@pixmesh/acquirer/acquirer';
import { foundOrNull } from '@pixmesh/acquirer/found-or-null';
import { TOPICS } from '@pixmesh/contracts/topics';
import { fromAcquirerId, parseId, toAcquirerId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { changedKeys } from '@pixmesh/reconciliation/changed-keys';
import type { Check, FoundBreak, Scope } from '@pixmesh/reconciliation/check';
import {
  LIST_SKEW_MS,
  type Listed,
  type ListedPage,
  listInParts,
  listReadablePages,
  type TimeWindow,
  unreadableBreak,
  unreadableBreaks,
  windowToList,
} from '@pixmesh/reconciliation/list-pages';
import { createSieve } from '@pixmesh/reconciliation/walk';

import { requestCheck } from '#status-check/payout-checks.sql.ts';

import {
  type ComparedPayout,
  findPayoutsByEndToEndId,
  findPayoutsById,
  findReturnsOfPayouts,
  listContradicted,
  listSentPayouts,
  listStuckPayouts,
} from './compared-payouts.sql.ts';
import {
  isKnownToAcquirer,
  compareReturns,
  compareSend,
  isBookable,
  type PairedSend,
} from './compare-send.ts';

/** Around the time that an end-to-end id contains, when a send can be found by nothing else. */
const DAY_MS = 86_400_000;
/** Older payouts on their way that an incremental run asks the acquirer for, one by one. */
const STUCK_REREAD_MAX = 200;

export type PayoutCheckDeps = {
  db: Database;
  acquirer: Pick<Acquirer, 'listSent' | 'getPayout'>;
};

/** Aborted once the run has lost its lease. */
type RunDeps = PayoutCheckDeps & { signal: AbortSignal };

/**
 * Every order at the acquirer is a payout of ours with the same amount, state and end-to-end id, and the other way
 * round; what came back of it is recorded (I5, P5). Left: the acquirer; right: our payouts. An order that cannot be
 * read is a break by itself, and hides no other.
 */
export function payoutCheck(deps: PayoutCheckDeps): Check {
  return {
    name: 'payout',
    run: async (scope) => {
      const breaks: FoundBreak[] = [];
      const sieve = createSieve();
      let compared = 0;
      for await (const { pairs, unreadable } of pairsIn({ ...deps, signal: scope.signal }, scope)) {
        scope.signal.throwIfAborted();
        const fresh = pairs.filter((pair) => sieve.isNew(keyOf(pair)));
        compared += fresh.length;
        breaks.push(...(await compareAll(deps, fresh)), ...unreadable);
      }
      return { compared, breaks };
    },
  };
}

type Pairs = { pairs: PairedSend[]; unreadable: FoundBreak[] };

async function* pairsIn(deps: RunDeps, scope: Scope): AsyncGenerator<Pairs> {
  const sieve = createSieve();
  const readPage = (page: ListedPage) => deps.acquirer.listSent(page);
  for await (const part of listInParts(readPage, windowToList(scope))) {
    const paired = await pairPart(deps, part);
    sieve.fresh(paired.pairs.flatMap(({ ours }) => ours?.id ?? []));
    yield paired;
  }
  // Also in a full run: what it lists ends after some time, and what it does not find again counts as healed.
  yield await pairKnown(deps, scope.knownIds);
  const contradicted = await listReturnContradictions(deps.db);
  yield await pairReturned(deps, [...new Set(contradicted.map(({ endToEndId }) => endToEndId))]);
  yield await pairOurs(deps, (await listContradicted(deps.db)).filter(isUnseen));
  if (scope.since === null) return;
  const window = { from: new Date(0), to: new Date(scope.since.getTime() - LIST_SKEW_MS) };
  const stuck = await listStuckPayouts(deps.db, { window, limit: STUCK_REREAD_MAX });
  yield await pairOurs(deps, stuck.filter(isUnseen));
  for await (const keys of changedKeys(deps.db, TOPICS.payoutsEvents, scope.since)) {
    const changed = (await findPayoutsById(deps.db, keys)).filter(isKnownToAcquirer);
    yield await pairOurs(deps, changed.filter(isUnseen));
  }

  function isUnseen({ id }: ComparedPayout): boolean {
    return sieve.isNew(id);
  }
}

async function pairPart(
  deps: RunDeps,
  { window, items: theirs, unreadable }: Listed<AcquirerPayout> & { window: TimeWindow },
): Promise<Pairs> {
  const sent = await listSentPayouts(deps.db, window);
  const ours = new Map(sent.map((payout) => [toAcquirerId(payout.id), payout]));
  const elsewhere = theirs.flatMap(({ idEnvio }) =>
    idEnvio !== null && !ours.has(idEnvio) ? (fromAcquirerId(idEnvio) ?? []) : [],
  );
  for (const payout of await findPayoutsById(deps.db, elsewhere)) {
    ours.set(toAcquirerId(payout.id), payout);
  }
  const listed = new Set(theirs.map(({ idEnvio }) => idEnvio));
  const alone = sent.filter(({ id }) => !listed.has(toAcquirerId(id))).filter(isKnownToAcquirer);
  const pairs = theirs.map((send) => ({
    theirs: send,
    ours: send.idEnvio === null ? null : (ours.get(send.idEnvio) ?? null),
  }));
  const listedPairs = { pairs, unreadable: unreadableBreaks('payout', unreadable) };
  return together([listedPairs, await pairOurs(deps, alone)]);
}

/** The acquirer is asked one by one for what its list of the window did not show. */
async function pairOurs(deps: RunDeps, payouts: readonly ComparedPayout[]): Promise<Pairs> {
  const found: Pairs = { pairs: [], unreadable: [] };
  for (const ours of payouts) {
    deps.signal.throwIfAborted();
    const lookup = await deps.acquirer.getPayout(toAcquirerId(ours.id));
    const unreadable = unreadableBreak(ours.id, lookup);
    if (unreadable !== null) found.unreadable.push(unreadable);
    else found.pairs.push({ theirs: foundOrNull(lookup), ours });
  }
  return found;
}

function together(parts: readonly Pairs[]): Pairs {
  return {
    pairs: parts.flatMap(({ pairs }) => pairs),
    unreadable: parts.flatMap(({ unreadable }) => unreadable),
  };
}

/** Ids of breaks are payouts, returns (`<end-to-end id>:<return id>`), or sends that no payout explains. */
async function pairKnown(deps: RunDeps, ids: readonly string[]): Promise<Pairs> {
  const [returns, others] = [
    ids.filter((id) => id.includes(':')),
    ids.filter((id) => !id.includes(':')),
  ];
  const payouts = await findPayoutsById(
    deps.db,
    others.filter((id) => parseId(id) !== null),
  );
  const foreign = others.filter((id) => parseId(id) === null);
  return together([
    await pairOurs(deps, payouts),
    await pairForeign(deps, foreign),
    await pairReturned(deps, [...new Set(returns.map((id) => id.split(':')[0] ?? ''))]),
  ]);
}

/** Sends that money came back of. Our payout may not know its end-to-end id: the acquirer then names it. */
async function pairReturned(deps: RunDeps, endToEndIds: readonly string[]): Promise<Pairs> {
  const known = await pairOurs(deps, await findPayoutsByEndToEndId(deps.db, endToEndIds));
  const reached = new Set(known.pairs.map(({ theirs }) => theirs?.endToEndId));
  const lost = endToEndIds.filter((id) => !reached.has(id));
  return together([known, await pairForeign(deps, lost)]);
}

async function pairForeign(deps: PayoutCheckDeps, ids: readonly string[]): Promise<Pairs> {
  const found: Pairs = { pairs: [], unreadable: [] };
  for (const id of ids) {
    const lookup = await findForeign(deps, id);
    const unreadable = unreadableBreak(id, lookup);
    if (unreadable !== null) {
      found.unreadable.push(unreadable);
      continue;
    }
    const theirs = foundOrNull(lookup);
    const payoutId = theirs?.idEnvio ? fromAcquirerId(theirs.idEnvio) : null;
    const [ours = null] = await findPayoutsById(deps.db, payoutId === null ? [] : [payoutId]);
    found.pairs.push({ theirs, ours });
  }
  return found;
}

/** A send without an idEnvio is found by the time in its end-to-end id (`pix.md`: `E`, ISPB, `yyyyMMddHHmm`). */
async function findForeign(deps: PayoutCheckDeps, id: string): Promise<Lookup<AcquirerPayout>> {
  const time = /^E.{8}(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)/.exec(id);
  if (!time) return await deps.acquirer.getPayout(id);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = time.slice(1).map(Number);
  const at = Date.UTC(year, month - 1, day, hour, minute);
  const window = { from: new Date(at - DAY_MS), to: new Date(at + DAY_MS) };
  const listed = await listReadablePages((page) => deps.acquirer.listSent(page), window);
  const value = listed.items.find((send) => send.endToEndId === id);
  if (value !== undefined) return { kind: 'found', value };
  const isUnreadable = listed.unreadable.some(({ endToEndId }) => endToEndId === id);
  return isUnreadable ? { kind: 'unknown', cause: 'unreadable' } : { kind: 'not_found' };
}

async function compareAll(
  deps: PayoutCheckDeps,
  pairs: readonly PairedSend[],
): Promise<FoundBreak[]> {
  const known = pairs.flatMap(({ theirs, ours }) => (theirs && ours ? [{ theirs, ours }] : []));
  const ids = known.map(({ ours }) => ours.id);
  const recorded = Map.groupBy(await findReturnsOfPayouts(deps.db, ids), (one) => one.payoutId);
  const breaks = pairs.flatMap(compareSend);
  for (const { theirs, ours } of known) {
    const ofPayout = new Map(recorded.get(ours.id)?.map((one) => [one.returnId, one.amount]));
    const returns = compareReturns(theirs, ofPayout);
    // A return that nobody announced is booked by a check of its payout, as its callback would have had it: the break
    // heals by itself (decisions 128, 218). Nothing is booked from here.
    if (returns.some((one) => isBookable(one, ours, ofPayout))) {
      await requestCheck(deps.db, ours.id, null);
    }
    breaks.push(...returns);
  }
  return breaks;
}

function keyOf({ theirs, ours }: PairedSend): string {
  return theirs?.endToEndId ?? ours?.id ?? '';
}
