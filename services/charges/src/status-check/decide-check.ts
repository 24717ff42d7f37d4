import type { AcquirerCharge, PixReturn, ReceivedPix } from '@pixmesh/acquirer/acquirer';
import { assertNever } from '@pixmesh/kernel/app-error';

import type { ChargeRow } from '#charge/charge-row.ts';
import { mayMove } from '#charge/transitions.ts';
import { type AcquirerTimes, decideReceived, type Disposition } from '#received/decide-received.ts';
import { type BookStep, decideReturn, type IgnoreStep } from '#returns/decide-return.ts';
import { returnKey } from '#returns/return-key.ts';

import type { RecordedMoney } from './recorded-money.ts';

/** For so long a return of a disputed Pix waits for its nature, which decides the end of the charge (decision 78). */
const NATURE_WAIT_MS = 10 * 60_000;
/** What the acquirer's clock may be ahead of ours. */
const CLOCK_AHEAD_MS = 60_000;

/** The part of the acquirer's charge that decides; without its times where only a Pix was asked for. */
export type ProviderState = Pick<AcquirerCharge, 'txid' | 'status' | 'received'> & AcquirerTimes;

export type CheckStep =
  | { kind: 'record_pix'; pix: ReceivedPix; disposition: Disposition }
  /** The acquirer took the charge away (decision 231). */
  | { kind: 'fail' }
  /** It was removed in our name, and that is not recorded yet (decision 75). */
  | { kind: 'cancel' }
  /** Its end was announced, and it can still be paid there (decision 63). */
  | { kind: 'remove' }
  /** A refund of ours has ended there. */
  | { kind: 'end_refund'; endToEndId: string; returned: PixReturn }
  | BookStep
  | IgnoreStep;

/**
 * When to check next: `at_once` with the same provider state, after steps that change the charge elsewhere; `soon`
 * where something could not be applied yet; `unpaid` where only a Pix or a removal is still to come; `rest`: only when
 * asked.
 */
export type NextCheck = 'at_once' | 'soon' | 'routine' | 'unpaid' | 'rest';

export type CheckPlan = { steps: CheckStep[]; next: NextCheck };

/** What is recorded, and the returns whose refunds this check has ended already. */
export type Recorded = RecordedMoney & { endedRefunds: ReadonlySet<string> };

/** The parts of a charge that a check may change, as they are after the steps so far. */
type Changing = Pick<ChargeRow, 'status' | 'acceptedE2e' | 'refundedAmount'>;

/**
 * What follows from one status check of an issued charge. The whole provider state is compared with what is recorded,
 * in a fixed order (what was received, returns, a removal), so that the order of callbacks never matters, and a
 * repeated check finds nothing to do. Money explains a charge before a removal does, and one that cannot be made now
 * holds up no return. Returns of a Pix that the ledger has not credited yet wait, and so do those of a disputed one
 * without a nature.
 */
export function decideCheck(
  charge: ChargeRow,
  provider: ProviderState,
  recorded: Recorded,
): CheckPlan {
  // Issuing comes first (decision 74).
  if (charge.status === 'processing') return { steps: [], next: 'soon' };
  const received = provider.received.toSorted((a, b) => a.paidAt.getTime() - b.paidAt.getTime());
  const steps: CheckStep[] = [];
  let state: Changing = charge;
  const dispositions = new Map(recorded.received);
  for (const pix of received) {
    if (dispositions.has(pix.endToEndId)) continue;
    const disposition = decideReceived({ ...charge, ...state }, pix, provider);
    steps.push({ kind: 'record_pix', pix, disposition });
    dispositions.set(pix.endToEndId, disposition.kind);
    if (disposition.kind === 'credit') state = { ...state, acceptedE2e: pix.endToEndId };
  }
  let isWaiting = false;
  const booked = new Map(recorded.returns);
  for (const { pix, returned } of endedReturns(received)) {
    if (booked.has(returnKey(pix.endToEndId, returned.id))) continue;
    const disposition = dispositions.get(pix.endToEndId) ?? 'suspense';
    if (isAwaited({ ...charge, ...state }, { pix, returned, disposition }, recorded)) {
      isWaiting = true;
      continue;
    }
    if (recorded.refunds.has(returned.id)) {
      if (recorded.endedRefunds.has(returned.id)) continue;
      // The refund moves the charge too: what follows is decided anew.
      steps.push({ kind: 'end_refund', endToEndId: pix.endToEndId, returned });
      return { steps, next: 'at_once' };
    }
    if (returned.status !== 'returned') continue;
    const { disputed, won } = recorded;
    const isDisputed = disputed.has(pix.endToEndId) && !won.has(pix.endToEndId);
    const seen = { pix, returned, disposition, booked, isDisputed };
    const decided = decideReturn({ ...charge, ...state }, seen);
    steps.push(decided.book, ...decided.ignored);
    booked.set(returnKey(pix.endToEndId, returned.id), decided.booked);
    state = { ...state, ...decided.after };
  }
  const removal = decideRemoval(state, provider);
  if (removal !== null) steps.push(removal);
  if (isWaiting) return { steps, next: 'soon' };
  return { steps, next: decideNext(state, removal, { received, refunds: recorded.refunds }) };
}

type ShownReturn = { pix: ReceivedPix; returned: PixReturn; disposition: Disposition['kind'] };

/**
 * Whether a return waits: for the credit of its Pix, or, where the Pix is disputed and it is not ours, for its nature,
 * which the acquirer may name a little later. That holds for a won dispute too: it may still be lost (decision 194). A
 * time far ahead of our clock is not waited for.
 */
function isAwaited(
  { status, readAt }: ChargeRow,
  { pix, returned, disposition }: ShownReturn,
  { refunds, disputed }: Recorded,
): boolean {
  if (disposition === 'credit' && status === 'pending') return true;
  const { id, nature, settledAt } = returned;
  if (nature !== null || settledAt === null || refunds.has(id)) return false;
  const ageMs = readAt.getTime() - settledAt.getTime();
  const isFresh = ageMs < NATURE_WAIT_MS && ageMs > -CLOCK_AHEAD_MS;
  return isFresh && disputed.has(pix.endToEndId);
}

function endedReturns(received: readonly ReceivedPix[]) {
  return received.flatMap((pix) =>
    pix.returns
      .filter(({ status }) => status !== 'processing')
      .map((returned) => ({ pix, returned })),
  );
}

function decideRemoval(state: Changing, { status, txid }: ProviderState): CheckStep | null {
  const hasEndedUnpaid = state.status === 'failed' || state.status === 'canceled';
  switch (status) {
    case 'active':
      return hasEndedUnpaid ? { kind: 'remove' } : null;
    case 'removed_by_psp':
      if (mayMove(state, 'failed')) return { kind: 'fail' };
      break;
    case 'removed_by_receiver':
      if (mayMove(state, 'canceled')) return { kind: 'cancel' };
      break;
    case 'settled':
      return null;
    default:
      return assertNever(status);
  }
  // A charge that has ended without money is what a removal leaves, whoever made it.
  return hasEndedUnpaid ? null : { kind: 'ignore', event: status, detail: txid };
}

function decideNext(
  state: Changing,
  removal: CheckStep | null,
  { received, refunds }: { received: readonly ReceivedPix[]; refunds: ReadonlySet<string> },
): NextCheck {
  // Refunds of ours are checked by their own job.
  const isReturning = received.some(({ returns }) =>
    returns.some(({ id, status }) => status === 'processing' && !refunds.has(id)),
  );
  if (isReturning) return 'routine';
  const isRemoved = removal?.kind === 'fail' || removal?.kind === 'cancel';
  return state.status === 'pending' && state.acceptedE2e === null && !isRemoved ? 'unpaid' : 'rest';
}
