import type { PixReturn, ReceivedPix } from '@pixmesh/acquirer/acquirer';
import type { ChargeEventType } from '@pixmesh/contracts/messages/charge-event.v1';
import { type Cents, toCents } from '@pixmesh/kernel/money';

import type { ChargeRow, StoredStatus } from '#charge/charge-row.ts';
import { mayMove } from '#charge/transitions.ts';
import { MED_PREFIX } from '#disputes/dispute-row.ts';
import type { Disposition } from '#received/decide-received.ts';

import { returnKey } from './return-key.ts';

/** Why a return cannot be booked by itself: an operator has to decide. */
export type UnbookedReason =
  /** More went back than was received. */
  | 'exceeds_received'
  /** A credit of a charge that was never paid. */
  | 'not_paid'
  /** The item was given to its owner before. */
  | 'accepted_before';

/** What is booked of one return that the acquirer has carried out and no refund of ours explains. */
export type BookStep =
  | {
      kind: 'book_return';
      as: 'med' | 'returned';
      endToEndId: string;
      returned: PixReturn;
      /** Of the charge, after it. */
      status: StoredStatus;
      refundedAmount: Cents;
      /** What announces the new status; null where it stays. */
      event: ChargeEventType | null;
    }
  /** Of an item of suspense: of a part of it, too. */
  | { kind: 'end_suspense'; endToEndId: string; returned: PixReturn }
  | { kind: 'record_unbooked'; endToEndId: string; returned: PixReturn; reason: UnbookedReason };

/** What has no place in the table of transitions: recorded for operators, and nothing else (decision 80). */
export type IgnoreStep = {
  kind: 'ignore';
  event: 'removed_by_psp' | 'removed_by_receiver' | 'med_return' | 'returned_in_full';
  /** The txid, or end-to-end id and return id. */
  detail: string;
};

type Returned = {
  pix: ReceivedPix;
  returned: PixReturn;
  disposition: Disposition['kind'];
  /** Returns recorded so far, by end-to-end id and return id, with what of each is booked. */
  booked: ReadonlyMap<string, Cents>;
  /** It has a dispute that is not won. */
  isDisputed: boolean;
};

type Decided = {
  book: BookStep;
  ignored: IgnoreStep[];
  /** What of it counts against the Pix from now on. */
  booked: Cents;
  after: Pick<ChargeRow, 'status' | 'refundedAmount'>;
};

const NOTHING = toCents(0n);

/**
 * Whether a return took the payer's side in a dispute. One without a nature is no refund of ours: while the Pix is
 * disputed it is taken for the payer's, otherwise for a plain return.
 */
function isMedReturn({ returned: { nature }, isDisputed }: Returned): boolean {
  return nature === null ? isDisputed : nature.startsWith(MED_PREFIX);
}

/**
 * What follows from a return that has happened: money has left, so it is booked whatever the charge has become, and
 * the charge moves as far as the table of transitions lets it (decisions 77, 78, 80).
 */
export function decideReturn(charge: ChargeRow, seen: Returned): Decided {
  const { pix, returned, disposition } = seen;
  const of = { endToEndId: pix.endToEndId, returned };
  if (returned.amountCents + bookedOf(seen) > pix.amountCents) {
    return unbooked(charge, { ...of, reason: 'exceeds_received' });
  }
  if (disposition === 'suspense') {
    return done(charge, { kind: 'end_suspense', ...of });
  }
  if (!CREDITED.has(charge.status)) return unbooked(charge, { ...of, reason: 'not_paid' });
  return isMedReturn(seen) ? decideMed(charge, of) : decidePlain(charge, of);
}

/** A charge whose Pix the ledger has credited. */
const CREDITED: ReadonlySet<StoredStatus> = new Set([
  'paid',
  'infraction',
  'refunded',
  'charged_back',
]);

type Of = { endToEndId: string; returned: PixReturn };

/** Any cent under the MED means that the payer has won (decision 195). */
function decideMed(charge: ChargeRow, of: Of): Decided {
  const moves = mayMove(charge, 'charged_back');
  const status = moves ? 'charged_back' : charge.status;
  const event = moves ? 'charge.pix.charged_back' : null;
  const { refundedAmount } = charge;
  const book = { kind: 'book_return', as: 'med', ...of, status, refundedAmount, event } as const;
  return done(charge, book, status === 'charged_back' ? null : 'med_return');
}

function decidePlain(charge: ChargeRow, of: Of): Decided {
  const refundedAmount = toCents(charge.refundedAmount + of.returned.amountCents);
  const isTotal = refundedAmount === charge.amount;
  const moves = isTotal && mayMove(charge, 'refunded');
  const status = moves ? 'refunded' : charge.status;
  const event = moves ? 'charge.pix.refunded' : null;
  const book = {
    kind: 'book_return',
    as: 'returned',
    ...of,
    status,
    refundedAmount,
    event,
  } as const;
  return done(charge, book, isTotal && status !== 'refunded' ? 'returned_in_full' : null);
}

function done(
  charge: ChargeRow,
  book: BookStep,
  event: 'med_return' | 'returned_in_full' | null = null,
): Decided {
  const { status, refundedAmount } = book.kind === 'book_return' ? book : charge;
  const { id, amountCents } = book.returned;
  const detail = returnKey(book.endToEndId, id);
  const ignored = event === null ? [] : [{ kind: 'ignore', event, detail } as const];
  return { book, ignored, booked: amountCents, after: { status, refundedAmount } };
}

function unbooked(charge: ChargeRow, of: Of & { reason: UnbookedReason }): Decided {
  const { status, refundedAmount } = charge;
  const book = { kind: 'record_unbooked', ...of } as const;
  return { book, ignored: [], booked: NOTHING, after: { status, refundedAmount } };
}

function bookedOf({ pix, booked }: Returned): bigint {
  const prefix = returnKey(pix.endToEndId, '');
  let sum = 0n;
  for (const [key, amount] of booked) if (key.startsWith(prefix)) sum += amount;
  return sum;
}
