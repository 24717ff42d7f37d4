import { setTimeout as delay } from 'node:timers/promises';

import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import type { BookedJournal } from '@pixmesh/contracts/internal/ledger-reads';
import { AppError } from '@pixmesh/kernel/app-error';
import type { LedgerReads } from '@pixmesh/ledger-client/ledger-reads';
import type { Check, CheckOutcome } from '@pixmesh/reconciliation/check';
import { LIST_SKEW_MS } from '@pixmesh/reconciliation/list-pages';

import { balanceRead } from '#reports.ts';

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

/**
 * The acquirer's balance, and the least and the most by which it may differ from the books: more than one amount where
 * something moved while it was read.
 */
type Reading = { found: bigint; least: bigint; most: bigint; movements: number };

/**
 * The money at the acquirer is what the ledger's clearing account says, plus what has moved there and is not booked
 * yet. Left: the acquirer; right: the ledger. What moves while the balance is read is in it or not, so a reading allows
 * more than one difference. The difference is the same in a few readings; it is a break once it has lasted for the
 * window.
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
        if (reading.least === 0n && reading.most === 0n) break;
        listing = newer;
        await delay(CHECK_INTERVAL_MS);
      }
      return toOutcome(readings);
    },
  };
}

function toOutcome(readings: readonly Reading[]): CheckOutcome {
  const compared = Math.max(0, ...readings.map(({ movements }) => movements)) + 1;
  const amountCents = differenceOf(readings);
  const last = readings.at(-1);
  if (amountCents === 0n || last === undefined) return { compared, breaks: [] };
  const [expected, found] = [String(last.found - amountCents), String(last.found)];
  return { compared, breaks: [{ kind: 'amount', id: 'acquirer', expected, found, amountCents }] };
}

/** The smallest that all readings allow; where an acquirer shows something late and there is none, that one allows. */
function differenceOf(readings: readonly Reading[]): bigint {
  const least = readings.reduce(
    (max, one) => (one.least > max ? one.least : max),
    readings[0]!.least,
  );
  const most = readings.reduce((min, one) => (one.most < min ? one.most : min), readings[0]!.most);
  if (least <= most) return nearestToZero({ least, most });
  return readings.map(nearestToZero).toSorted((a, b) => Number(sizeOf(a) - sizeOf(b)))[0]!;
}

function nearestToZero({ least, most }: Pick<Reading, 'least' | 'most'>): bigint {
  if (least > 0n) return least;
  return most < 0n ? most : 0n;
}

function sizeOf(cents: bigint): bigint {
  return cents < 0n ? -cents : cents;
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
  const ids = [...movements.values()].flat().flatMap(({ commandIds }) => commandIds);
  const journals = await deps.ledger.findJournals(ids);
  const isUnbooked = ({ commandIds }: Movement): boolean =>
    !commandIds.some((id) => isInBooks(journals.get(id), booksAt));
  // What is booked stays so: the next reading does not ask about it again.
  const open = new Map([...movements].filter(([, ofPix]) => ofPix.some(isUnbooked)));
  const unbooked = [...open.values()].flat().filter(isUnbooked);
  const reading = {
    found: balance.amountCents,
    ...differencesOf(balance.amountCents + clearing, { unbooked, before: before.movements }),
    movements: movements.size,
  };
  return { reading, newer: { startedAt, movements: open } };
}

/** A movement that was known before the balance was read explains its amount; any other may. */
function differencesOf(
  unexplained: bigint,
  { unbooked, before }: { unbooked: readonly Movement[]; before: Movements },
): Pick<Reading, 'least' | 'most'> {
  const known = new Set([...before.values()].flat().map(({ commandIds: [id] }) => id));
  const range = { least: unexplained, most: unexplained };
  for (const { amountCents, commandIds } of unbooked) {
    const isKnown = known.has(commandIds[0]);
    if (isKnown || amountCents > 0n) range.least -= amountCents;
    if (isKnown || amountCents < 0n) range.most -= amountCents;
  }
  return range;
}

function isInBooks(journal: BookedJournal | undefined, booksAt: Date): boolean {
  return journal !== undefined && new Date(journal.created_at) <= booksAt;
}

/** The acquirer's clock may be ahead of ours. */
function untilNow(): Date {
  return new Date(Date.now() + LIST_SKEW_MS);
}
