import type { AcquirerCharge, PixReturn, ReceivedPix } from '@pixmesh/acquirer/client';
import type { Cents } from '@pixmesh/kernel/money';

import type { ChargeRow, StoredStatus } from '#charge/charge-row.ts';
import { mayMove } from '#charge/transitions.ts';
import { decideReceived, type Disposition } from '#received/decide-received.ts';
import { type BookStep, decideReturn, type IgnoreStep } from '#returns/decide-return.ts';

/** What is recorded of the Pix that a look shows. */
export type KnownMoney = {
  /** What became of each recorded Pix, by end-to-end id. */
  recorded: ReadonlyMap<string, Disposition['kind']>;
  /** Returns that are recorded, by `returnKey`, each with what of it is booked. */
  returns: ReadonlyMap<string, Cents>;
  /** The acquirer's ids of returns that are refunds of ours; of those, the ones whose end this look has passed on. */
  refunds: ReadonlySet<string>;
  passedOn: ReadonlySet<string>;
};

export type LookStep =
  | { kind: 'record_pix'; pix: ReceivedPix; disposition: Disposition }
  /** The acquirer took the charge away (decision 231). */
  | { kind: 'fail' }
  /** It was removed in our name, and nobody here has noted that yet (decision 75). */
  | { kind: 'cancel' }
  /** Its end was announced, and it can still be paid there (decision 63). */
  | { kind: 'remove' }
  /** A refund of ours has ended there. */
  | { kind: 'end_refund'; endToEndId: string; returned: PixReturn }
  | BookStep
  | IgnoreStep;

/**
 * When to look next: `at_once` with the same truth, after steps that change the charge elsewhere; `soon` where something
 * could not be applied yet; `unpaid` where only a Pix or a removal is still to come; `rest`: only when asked.
 */
export type NextLook = 'at_once' | 'soon' | 'routine' | 'unpaid' | 'rest';

export type LookPlan = { steps: LookStep[]; next: NextLook };

/** The parts of a charge that a look may change, as they are after the steps so far. */
type State = Pick<ChargeRow, 'status' | 'acceptedE2e' | 'refundedAmount'>;

/** One name of a return: the acquirer's ids of returns are unique within their Pix. */
export function returnKey(endToEndId: string, returnId: string): string {
  return `${endToEndId}/${returnId}`;
}

/**
 * What follows from one look at an issued charge. The whole truth of the acquirer is compared with what is recorded,
 * in a fixed order (what was received, returns, a removal), so that the order of callbacks never matters, and a
 * repeated look finds nothing to do. Money explains a charge before a removal does, and one that cannot be made now
 * holds up no return. Returns of a Pix that the ledger has not credited yet wait.
 */
export function decideLook(
  charge: ChargeRow,
  theirs: Pick<AcquirerCharge, 'txid' | 'status' | 'received'>,
  known: KnownMoney,
): LookPlan {
  // Issuing comes first (decision 74).
  if (charge.status === 'processing') return { steps: [], next: 'soon' };
  const steps: LookStep[] = [];
  let state: State = charge;
  const received = theirs.received.toSorted((a, b) => a.paidAt.getTime() - b.paidAt.getTime());
  const dispositions = new Map(known.recorded);
  for (const pix of received) {
    if (dispositions.has(pix.endToEndId)) continue;
    const disposition = decideReceived({ ...charge, ...state }, pix);
    steps.push({ kind: 'record_pix', pix, disposition });
    dispositions.set(pix.endToEndId, disposition.kind);
    if (disposition.kind === 'credit') state = { ...state, acceptedE2e: pix.endToEndId };
  }
  let isWaiting = false;
  const booked = new Map(known.returns);
  for (const { pix, returned } of endedReturns(received)) {
    if (booked.has(returnKey(pix.endToEndId, returned.id))) continue;
    if (dispositions.get(pix.endToEndId) === 'credit' && state.status === 'pending') {
      isWaiting = true;
      continue;
    }
    if (known.refunds.has(returned.id)) {
      if (known.passedOn.has(returned.id)) continue;
      // The refund moves the charge too: what follows is decided anew.
      steps.push({ kind: 'end_refund', endToEndId: pix.endToEndId, returned });
      return { steps, next: 'at_once' };
    }
    if (returned.status !== 'returned') continue;
    const disposition = dispositions.get(pix.endToEndId) ?? 'suspense';
    const decided = decideReturn({ ...charge, ...state }, { pix, returned, disposition, booked });
    steps.push(decided.book, ...decided.ignored);
    booked.set(returnKey(pix.endToEndId, returned.id), decided.booked);
    state = { ...state, ...decided.after };
  }
  const removal = decideRemoval(state, theirs);
  if (removal !== null) steps.push(removal);
  state = { ...state, status: statusAfter(state.status, removal) };
  return { steps, next: isWaiting ? 'soon' : nextLook(state, received, known) };
}

function endedReturns(received: readonly ReceivedPix[]) {
  return received.flatMap((pix) =>
    pix.returns
      .filter(({ status }) => status !== 'processing')
      .map((returned) => ({ pix, returned })),
  );
}

function decideRemoval(
  state: State,
  theirs: Pick<AcquirerCharge, 'txid' | 'status'>,
): LookStep | null {
  switch (theirs.status) {
    case 'active':
      return state.status === 'failed' || state.status === 'canceled' ? { kind: 'remove' } : null;
    case 'settled':
      return null;
    case 'removed_by_psp':
      if (mayMove(state, 'failed')) return { kind: 'fail' };
      break;
    case 'removed_by_receiver':
      if (mayMove(state, 'canceled')) return { kind: 'cancel' };
      break;
    default:
      break;
  }
  // A charge that has ended without money is what a removal leaves, whoever made it.
  if (state.status === 'failed' || state.status === 'canceled') return null;
  return { kind: 'ignore', happening: theirs.status, detail: theirs.txid };
}

function statusAfter(status: StoredStatus, removal: LookStep | null): StoredStatus {
  if (removal?.kind === 'fail') return 'failed';
  return removal?.kind === 'cancel' ? 'canceled' : status;
}

function nextLook(state: State, received: readonly ReceivedPix[], known: KnownMoney): NextLook {
  // Refunds of ours are looked at by their own job.
  const isReturning = received.some(({ returns }) =>
    returns.some(({ id, status }) => status === 'processing' && !known.refunds.has(id)),
  );
  if (isReturning) return 'routine';
  return state.status === 'pending' && state.acceptedE2e === null ? 'unpaid' : 'rest';
}
