import type { AcquirerDispute } from '@pixmesh/acquirer/acquirer';
import type { DisputeStatus } from '@pixmesh/contracts/http/dispute';
import type {
  ChargeEventType,
  DisputeEventType,
} from '@pixmesh/contracts/messages/charge-event.v1';
import { assertNever } from '@pixmesh/kernel/app-error';

import type { ChargeRow, StoredStatus } from '#charge/charge-row.ts';
import type { Cause } from '#charge/transitions.ts';

import { type DisputeRow, isOpen } from './dispute-row.ts';

/** What one change of a dispute does, all of it in one transaction. */
export type DisputeChange = {
  kind: 'change';
  status: DisputeStatus;
  arrivedResolved: boolean;
  cause: Cause;
  /** The charge's status afterwards; the same where the dispute does not move it. */
  chargeStatus: StoredStatus;
  chargeEvent: ChargeEventType | null;
  disputeEvent: DisputeEventType | null;
  /** What becomes of the money: blocked, unblocked as far as it is still blocked, or left as it is. */
  block: 'order' | 'end' | 'keep';
};

export type InfractionStep =
  | DisputeChange
  /** Nothing new. */
  | { kind: 'nothing' }
  /** It cannot be applied yet; the list is read again from before it. */
  | { kind: 'wait' }
  /** It has no place in the life of a dispute (decision 193): audited, and nothing moves. */
  | { kind: 'ignored' };

export type SeenInfraction = {
  stored: DisputeRow | null;
  charge: ChargeRow;
  seen: AcquirerDispute;
  /** Another dispute of this Pix is open: one at a time (decision 196). */
  isContested: boolean;
  /** Whether any cent of the Pix has come back under the MED. */
  hasMedReturn: boolean;
  /** What has returned of it was read just now, and is booked. */
  areReturnsKnown: boolean;
  /** It could not be read, and that may still be waited for. */
  areReturnsAwaited: boolean;
  /** The acquirer has had its time to return the money since it decided. */
  isReturnWindowOver: boolean;
};

const NOTHING = { kind: 'nothing' } as const;
const WAIT = { kind: 'wait' } as const;
const IGNORED = { kind: 'ignored' } as const;

/**
 * What an infraction that the acquirer lists means for its dispute and charge (decisions 79, 80, 190 to 196). The list
 * shows states, so the way there may never be seen: open and under review in one step, or decided from the start.
 */
export function decideInfraction(input: SeenInfraction): InfractionStep {
  return input.stored === null ? decideNew(input) : decideStored(input, input.stored);
}

function decideNew(input: SeenInfraction): InfractionStep {
  const { charge, seen } = input;
  // The ledger has not credited the Pix yet: nothing of it can be blocked or have been lost.
  if (charge.status === 'pending' || charge.status === 'processing') return WAIT;
  switch (seen.status) {
    case 'open':
    case 'under_review':
      if (input.isContested) return WAIT;
      return {
        kind: 'change',
        status: seen.status,
        arrivedResolved: false,
        cause: 'dispute_opened',
        chargeStatus: charge.status === 'paid' ? 'infraction' : charge.status,
        chargeEvent: charge.status === 'paid' ? 'charge.pix.infraction' : null,
        disputeEvent: 'dispute.pix.opened',
        block: 'order',
      };
    case 'accepted':
      return arriveLost(input);
    case 'rejected':
    case 'canceled':
      return {
        kind: 'change',
        status: 'won',
        arrivedResolved: true,
        cause: 'dispute_won',
        chargeStatus: charge.status,
        chargeEvent: null,
        disputeEvent: 'dispute.pix.won',
        block: 'keep',
      };
    default:
      return assertNever(seen.status);
  }
}

/**
 * Lost before we saw it: the nature of its return has decided the charge's state already (decision 78), so until the
 * return shows it is waited for, and only an acquirer that is known to name none leaves the dispute's own status.
 */
function arriveLost(input: SeenInfraction): InfractionStep {
  const { charge, isReturnWindowOver, areReturnsAwaited, areReturnsKnown } = input;
  if (areReturnsAwaited) return WAIT;
  const isReturned = charge.status === 'charged_back' || charge.status === 'refunded';
  if (!isReturned && !(isReturnWindowOver && areReturnsKnown)) return WAIT;
  return lose(charge, { arrivedResolved: true, block: 'keep' });
}

function decideStored(input: SeenInfraction, stored: DisputeRow): InfractionStep {
  const { charge, seen } = input;
  switch (seen.status) {
    case 'open':
      return isOpen(stored) ? reviewAfterDeadline(stored, charge) : IGNORED;
    case 'under_review':
      if (stored.status === 'open') return review(charge);
      return stored.status === 'under_review' ? NOTHING : IGNORED;
    case 'rejected':
    case 'canceled':
      if (isOpen(stored)) return win(charge);
      return stored.status === 'won' ? NOTHING : IGNORED;
    case 'accepted':
      return stored.status === 'lost' ? NOTHING : loseStored(input, stored);
    default:
      return assertNever(seen.status);
  }
}

/** Without a defense in time the acquirer decides alone. */
function reviewAfterDeadline(stored: DisputeRow, charge: ChargeRow): InfractionStep {
  const isOverdue = stored.status === 'open' && stored.defenseDeadlineAt <= stored.readAt;
  return isOverdue ? review(charge) : NOTHING;
}

/**
 * Its event carries what has returned and is sent once, so that much is waited for. The block ends at once where money
 * has returned or had its time; otherwise, and where the returns are unknown, later (`end-blocks.ts`).
 */
function loseStored(input: SeenInfraction, stored: DisputeRow): InfractionStep {
  if (input.areReturnsAwaited) return WAIT;
  const mayEnd = input.areReturnsKnown && (input.hasMedReturn || input.isReturnWindowOver);
  const block = stored.block === 'standing' && mayEnd ? 'end' : 'keep';
  return lose(input.charge, { arrivedResolved: false, block });
}

/** The defense was sent, or its time has passed. */
export function review(charge: ChargeRow): DisputeChange {
  return {
    kind: 'change',
    status: 'under_review',
    arrivedResolved: false,
    cause: 'dispute_under_review',
    chargeStatus: charge.status,
    chargeEvent: null,
    disputeEvent: null,
    block: 'keep',
  };
}

/** Back to `paid` without a second `charge.pix.paid`: receivers would fulfil twice (decision 81). */
function win(charge: ChargeRow): DisputeChange {
  return {
    kind: 'change',
    status: 'won',
    arrivedResolved: false,
    cause: 'dispute_won',
    chargeStatus: charge.status === 'infraction' ? 'paid' : charge.status,
    chargeEvent: null,
    disputeEvent: 'dispute.pix.won',
    block: 'end',
  };
}

/** Also after a win (decision 194). A charge that its returns have ended already keeps its state. */
export function lose(
  charge: ChargeRow,
  known: { arrivedResolved: boolean; block: DisputeChange['block'] },
): DisputeChange {
  const moves = charge.status === 'paid' || charge.status === 'infraction';
  return {
    kind: 'change',
    status: 'lost',
    cause: 'dispute_lost',
    chargeStatus: moves ? 'charged_back' : charge.status,
    chargeEvent: moves ? 'charge.pix.charged_back' : null,
    disputeEvent: 'dispute.pix.lost',
    ...known,
  };
}
