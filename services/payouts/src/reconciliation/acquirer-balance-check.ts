import { setTimeout as delay } from 'node:timers/promises';

import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import type { BookedJournal } from '@pixmesh/contracts/internal/ledger-reads';
import { AppError } from '@pixmesh/kernel/app-error';
import type { LedgerReads } from '@pixmesh/ledger-client/ledger-reads';
import type { Check, CheckOutcome } from '@pixmesh/reconciliation/check';
import { LIST_SKEW_MS } from '@pixmesh/reconciliation/list-pages';

import { balanceRead } from '#events.ts';

import {
  type AcquirerMovementsDeps,
  findOlderMovements,
  listMovements,
  type Movement,
  type Movements,
} from './acquirer-movements.ts';

/** What an acquirer shows a little late, or a payment that is booked meanwhile, shows in some of several readings. */
const READINGS_MAX = 5;
const CHECK_INTERVAL_MS = 200;
/** Two listings overlap by this much: the acquirer's clock and ours differ. */
const OVERLAP_MS = 60_000;

export type AcquirerBalanceCheckDeps = AcquirerMovementsDeps & {
  acquirer: Pick<Acquirer, 'balance'>;
  ledger: Pick<LedgerReads, 'readTotals' | 'findJournals'>;
};

/** What had moved when it was listed. */
type Listing = { startedAt: Date; movements: Movements };

/** The acquirer's balance, and the least and the most that it may be. */
type Reading = { found: bigint; least: bigint; most: bigint; movements: number };

/**
 * The money at the acquirer is what the ledger's clearing account says, plus what has moved there and is not booked
 * yet. Left: the acquirer; right: the ledger. What moves while the balance is read is in it or not, so it may be
 * between two amounts; what it is beyond them is the difference. The smallest of a few readings counts, and it is a
 * break once it has lasted for the window.
 */
export function acquirerBalanceCheck(deps: AcquirerBalanceCheckDeps): Check {
  return {
    name: 'acquirer_balance',
    run: async ({ signal }) => {
      const readings: Reading[] = [];
      let listing = await listAll(deps);
      while (readings.length < READINGS_MAX) {
        signal.throwIfAborted();
        const { reading, newer } = await readOnce(deps, listing);
        readings.push(reading);
        if (differenceOf(reading) === 0n) break;
        listing = newer;
        await delay(CHECK_INTERVAL_MS);
      }
      return toOutcome(readings);
    },
  };
}

function toOutcome(readings: readonly Reading[]): CheckOutcome {
  const [best] = readings.toSorted((a, b) => Number(distanceOf(a) - distanceOf(b)));
  if (!best) return { compared: 0, breaks: [] };
  const compared = best.movements + 1;
  const amountCents = differenceOf(best);
  if (amountCents === 0n) return { compared, breaks: [] };
  const [expected, found] = [String(best.found - amountCents), String(best.found)];
  return { compared, breaks: [{ kind: 'amount', id: 'acquirer', expected, found, amountCents }] };
}

function differenceOf({ found, least, most }: Reading): bigint {
  if (found < least) return found - least;
  return found > most ? found - most : 0n;
}

function distanceOf(reading: Reading): bigint {
  const difference = differenceOf(reading);
  return difference < 0n ? -difference : difference;
}

/** All that may not be booked yet. It takes seconds where much moves, so it is done once, before the readings. */
async function listAll(deps: AcquirerBalanceCheckDeps): Promise<Listing> {
  const startedAt = new Date();
  const from = new Date(startedAt.getTime() - LIST_SKEW_MS);
  const recent = await listMovements(deps, { from, to: untilNow() });
  const older = await findOlderMovements(deps, new Date(from.getTime() + OVERLAP_MS));
  return { startedAt, movements: new Map([...older, ...recent]) };
}

/**
 * The books first, then the balance, then what has moved there since the listing before: whatever the books lacked is
 * in one of the two. What was listed before the balance was read is in it; what is only listed afterwards may be.
 */
async function readOnce(
  deps: AcquirerBalanceCheckDeps,
  before: Listing,
): Promise<{ reading: Reading; newer: Listing }> {
  const startedAt = new Date();
  const { acquirer_clearing: clearing, read_at: readAt } = await deps.ledger.readTotals();
  // By the ledger's clock, which the times of its journals follow.
  const booksAt = readAt === null ? startedAt : new Date(readAt);
  const balance = await deps.acquirer.balance();
  if (balance.kind === 'unknown') {
    throw new AppError('DEPENDENCY_UNAVAILABLE', { message: `balance unknown: ${balance.cause}` });
  }
  balanceRead(balance.amountCents);
  const from = new Date(before.startedAt.getTime() - OVERLAP_MS);
  const latest = await listMovements(deps, { from, to: untilNow() });
  const movements = new Map([...before.movements, ...latest]);
  const all = [...movements.values()].flat();
  const journals = await deps.ledger.findJournals(all.flatMap(({ commandIds }) => commandIds));
  const unbooked = all.filter(
    ({ commandIds }) => !commandIds.some((id) => isInBooks(journals.get(id), booksAt)),
  );
  const reading = {
    found: balance.amountCents,
    ...boundsOf(unbooked, { before: before.movements, clearing }),
    movements: all.length,
  };
  return { reading, newer: { startedAt, movements } };
}

/** A movement that was known before the balance was read is in both bounds, any other in the one that it widens. */
function boundsOf(
  unbooked: readonly Movement[],
  { before, clearing }: { before: Movements; clearing: bigint },
): { least: bigint; most: bigint } {
  const known = new Set([...before.values()].flat().map(({ commandIds: [id] }) => id));
  const bounds = { least: 0n - clearing, most: 0n - clearing };
  for (const { amountCents, commandIds } of unbooked) {
    const isKnown = known.has(commandIds[0]);
    if (isKnown || amountCents < 0n) bounds.least += amountCents;
    if (isKnown || amountCents > 0n) bounds.most += amountCents;
  }
  return bounds;
}

function isInBooks(journal: BookedJournal | undefined, booksAt: Date): boolean {
  return journal !== undefined && new Date(journal.created_at) <= booksAt;
}

/** The acquirer's clock may be ahead of ours. */
function untilNow(): Date {
  return new Date(Date.now() + LIST_SKEW_MS);
}
