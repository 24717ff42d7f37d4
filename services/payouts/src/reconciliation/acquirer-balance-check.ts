import { setTimeout as delay } from 'node:timers/promises';

import type { Acquirer, AcquirerPayout, ReceivedPix } from '@pixmesh/acquirer/acquirer';
import { foundOrNull } from '@pixmesh/acquirer/found-or-null';
import { isPaidTo } from '@pixmesh/acquirer/is-paid-to';
import {
  acquirerTariffCommandId,
  holdSettleCommandId,
  receivedPixCommandId,
} from '@pixmesh/contracts/internal/ledger-command-ids';
import type { BookedJournal } from '@pixmesh/contracts/internal/ledger-reads';
import { AppError } from '@pixmesh/kernel/app-error';
import { fromAcquirerId, type PayoutId, toAcquirerId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { Check, CheckOutcome } from '@pixmesh/reconciliation/check';
import type { LedgerReads } from '@pixmesh/ledger-client/ledger-reads';
import { LIST_SKEW_MS, listAllPages, type TimeWindow } from '@pixmesh/reconciliation/list-pages';

import {
  findPayoutsById,
  findReturnsOfPayouts,
  listStuckPayouts,
  type RecordedReturn,
} from './compared-payouts.sql.ts';
import { balanceRead } from '#events.ts';
import { payoutReturnCreditCommandId, payoutSuspendCommandId } from '#payouts/ledger-commands.ts';

/** Money moves while three systems are read one after the other: what lasts shows in each of some readings. */
const READINGS_MAX = 5;
const CHECK_INTERVAL_MS = 200;
/** Sends that have been on their way for longer are no longer explained away. */
const IN_FLIGHT_MS_MAX = 7 * 86_400_000;
/** Payouts on their way that are older than what is listed, and that the acquirer is asked for one by one. */
const OLDER_MAX = 200;
/** The two ranges overlap by this much: the acquirer's clock and ours differ. */
const OVERLAP_MS = 60_000;

export type AcquirerBalanceCheckDeps = {
  db: Database;
  acquirer: Pick<Acquirer, 'balance' | 'listSent' | 'listReceived' | 'getPayout'>;
  ledger: Pick<LedgerReads, 'readTotals' | 'findJournals'>;
  /** Our key at the acquirer: what came for another one is not in our balance. */
  pixKey: string;
};

/** A movement at the acquirer and the commands of which one books it; cents as they change the balance there. */
type Movement = { amountCents: bigint; commandIds: string[] };

type Reading = { expected: bigint; found: bigint; movements: number };

/**
 * The money at the acquirer is what the ledger's clearing account says, plus what has moved there and is not booked
 * yet. Left: the acquirer; right: the ledger. The smallest difference of a few readings counts, and it is a break once
 * it has lasted for the window.
 */
export function acquirerBalanceCheck(deps: AcquirerBalanceCheckDeps): Check {
  return {
    name: 'acquirer_balance',
    run: async ({ signal }) => {
      const readings: Reading[] = [];
      while (readings.length < READINGS_MAX) {
        signal.throwIfAborted();
        const reading = await readOnce(deps);
        readings.push(reading);
        if (reading.expected === reading.found) break;
        await delay(CHECK_INTERVAL_MS);
      }
      return toOutcome(readings);
    },
  };
}

function toOutcome(readings: readonly Reading[]): CheckOutcome {
  const [best] = readings.toSorted((a, b) => Number(distance(a) - distance(b)));
  if (!best) return { compared: 0, breaks: [] };
  const compared = best.movements + 1;
  const amountCents = best.found - best.expected;
  if (amountCents === 0n) return { compared, breaks: [] };
  const [expected, found] = [String(best.expected), String(best.found)];
  return { compared, breaks: [{ kind: 'amount', id: 'acquirer', expected, found, amountCents }] };
}

function distance({ expected, found }: Reading): bigint {
  return expected > found ? expected - found : found - expected;
}

/** The books first, then the balance, then what has moved there: whatever the books lacked is in the last. */
async function readOnce(deps: AcquirerBalanceCheckDeps): Promise<Reading> {
  const askedAt = new Date();
  const { acquirer_clearing: clearing, read_at: readAt } = await deps.ledger.readTotals();
  // By the ledger's clock, which the times of its journals follow.
  const booksAt = readAt === null ? askedAt : new Date(readAt);
  const balance = await deps.acquirer.balance();
  if (balance.kind === 'unknown') {
    throw new AppError('DEPENDENCY_UNAVAILABLE', { message: `balance unknown: ${balance.cause}` });
  }
  balanceRead(balance.amountCents);
  const movements = await listMovements(deps);
  const journals = await deps.ledger.findJournals(
    movements.flatMap(({ commandIds }) => commandIds),
  );
  const inFlight = movements
    .filter(({ commandIds }) => !commandIds.some((id) => isInBooks(journals.get(id), booksAt)))
    .reduce((sum, { amountCents }) => sum + amountCents, 0n);
  return { expected: inFlight - clearing, found: balance.amountCents, movements: movements.length };
}

function isInBooks(journal: BookedJournal | undefined, booksAt: Date): boolean {
  return journal !== undefined && new Date(journal.created_at) <= booksAt;
}

async function listMovements(deps: AcquirerBalanceCheckDeps): Promise<Movement[]> {
  const now = Date.now();
  const recent = { from: new Date(now - LIST_SKEW_MS), to: new Date(now + LIST_SKEW_MS) };
  const received = await listAllPages((page) => deps.acquirer.listReceived(page), recent);
  const listed = await listAllPages((page) => deps.acquirer.listSent(page), recent);
  const sends = [...listed, ...(await findOlderSends(deps, recent))];
  const sent = [...new Map(sends.map((send) => [send.endToEndId, send])).values()];
  const own = received.filter((pix) => isPaidTo(pix, deps.pixKey));
  return [...own.flatMap(creditOf), ...(await sendsOf(deps, sent))];
}

/**
 * What the acquirer has of the payouts that were sent before what is listed, and are on their way.
 * @throws AppError `DEPENDENCY_UNAVAILABLE` where they are too many to be asked for: the balance cannot be compared
 *   then
 */
async function findOlderSends(
  { db, acquirer }: AcquirerBalanceCheckDeps,
  recent: TimeWindow,
): Promise<AcquirerPayout[]> {
  const from = new Date(Date.now() - IN_FLIGHT_MS_MAX);
  const window = { from, to: new Date(recent.from.getTime() + OVERLAP_MS) };
  const older = await listStuckPayouts(db, { window, limit: OLDER_MAX + 1 });
  if (older.length > OLDER_MAX) {
    throw new AppError('DEPENDENCY_UNAVAILABLE', { message: 'too many payouts are on their way' });
  }
  const sends: AcquirerPayout[] = [];
  for (const { id } of older) {
    const send = foundOrNull(await acquirer.getPayout(toAcquirerId(id)));
    if (send !== null) sends.push(send);
  }
  return sends;
}

/**
 * What came in, and what the acquirer took for it. What goes back of it is booked under ids that charges mints, and
 * within seconds: the window of the check covers it. A return of a disputed Pix that names no nature is booked after
 * ten minutes, and shows as a difference until then.
 */
function creditOf({ endToEndId, amountCents, tariffCents }: ReceivedPix): Movement[] {
  const credit = { amountCents, commandIds: [receivedPixCommandId(endToEndId)] };
  if (tariffCents === null) return [credit];
  const commandIds = [acquirerTariffCommandId(endToEndId)];
  return [credit, { amountCents: 0n - tariffCents, commandIds }];
}

/**
 * What our payouts have moved: an order takes its money when it is accepted, and its returns bring some back. An order
 * that is not ours explains nothing, nor do its returns.
 */
async function sendsOf(
  deps: AcquirerBalanceCheckDeps,
  sent: readonly AcquirerPayout[],
): Promise<Movement[]> {
  const moved = sent.flatMap((send) => {
    const { status, idEnvio } = send;
    const id = status === 'rejected' || idEnvio === null ? null : fromAcquirerId<PayoutId>(idEnvio);
    return id === null ? [] : [{ send, id }];
  });
  const ids = moved.map(({ id }) => id);
  const payouts = new Map(
    (await findPayoutsById(deps.db, ids)).map((payout) => [payout.id, payout]),
  );
  const recorded = await findReturnsOfPayouts(deps.db, ids);
  return moved.flatMap(({ send, id }): Movement[] => {
    const payout = payouts.get(id);
    if (!payout) return [];
    const commandIds = [
      holdSettleCommandId(payout),
      payoutSuspendCommandId(payout, 'completed_after_failed'),
    ];
    const own = recorded.filter(({ payoutId }) => payoutId === payout.id);
    return [{ amountCents: 0n - send.amountCents, commandIds }, ...returnsOf(send, own)];
  });
}

/**
 * A return moves its money when it is carried out: one that is under way or failed has moved none. It is booked under
 * the end-to-end id that the acquirer showed when it was recorded.
 */
function returnsOf(send: AcquirerPayout, recorded: readonly RecordedReturn[]): Movement[] {
  const carriedOut = send.returns.filter(({ status }) => status === 'returned');
  return carriedOut.map(({ amountCents, returnId, id }) => {
    const former = recorded.find((one) => one.returnId === returnId);
    const endToEndId = former?.endToEndId ?? send.endToEndId;
    return { amountCents, commandIds: [payoutReturnCreditCommandId(endToEndId, returnId ?? id)] };
  });
}
