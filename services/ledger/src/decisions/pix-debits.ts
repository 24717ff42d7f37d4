import type { AccountId } from '@pixmesh/kernel/ids';

/** What has left of one received Pix, is about to leave or may have to. Cents; changed only by what stands below. */
export type PixDebits = {
  readonly accountId: AccountId;
  readonly endToEndId: string;
  readonly received: bigint;
  /** Of open holds of refunds. */
  readonly refunding: bigint;
  readonly refunded: bigint;
  /** Under the MED, or by somebody else's order. */
  readonly returned: bigint;
  /** Its share of the owner's `blocked`. */
  readonly blocked: bigint;
  /** What its dispute would block beside that if no refund were on its way. */
  readonly shortfall: bigint;
  /** The newest dispute that blocks, and what it disputes; null and 0 when none does. */
  readonly disputeId: string | null;
  readonly disputed: bigint;
};

/** A change of a Pix, and what it moves: out of or into the block, and beside it. */
export type PixChange = { pix: PixDebits; ofBlock: bigint; rest: bigint };

export function untouchedPix(
  accountId: AccountId,
  endToEndId: string,
  received: bigint,
): PixDebits {
  const nothing = { refunding: 0n, refunded: 0n, returned: 0n, blocked: 0n, shortfall: 0n };
  return { accountId, endToEndId, received, ...nothing, disputeId: null, disputed: 0n };
}

/** A refund comes out of the block first (decision 79). Null: it would exceed what is left of the Pix. */
export function holdRefund(pix: PixDebits, amount: bigint): PixChange | null {
  const { received, refunding, refunded, returned, blocked, shortfall } = pix;
  if (refunding + refunded + returned + amount > received) return null;
  const ofBlock = least(blocked, amount);
  return {
    pix: bounded({
      ...pix,
      refunding: refunding + amount,
      blocked: blocked - ofBlock,
      shortfall: shortfall + ofBlock,
    }),
    ofBlock,
    rest: amount - ofBlock,
  };
}

/** Null: with it, more would have gone back than was received. */
export function settleRefund(
  pix: PixDebits,
  { amount, fromBlock }: { amount: bigint; fromBlock: bigint },
): PixDebits | null {
  const { received, refunding, refunded, returned, shortfall } = pix;
  if (refunded + returned + amount > received) return null;
  return bounded({
    ...pix,
    refunding: refunding - amount,
    refunded: refunded + amount,
    shortfall: shortfall - fromBlock,
  });
}

/**
 * While the dispute is open, what the block lacks goes to the block: what the refund took out of it, and what it could
 * not take because of the refund. Never more than is left of the Pix: what the MED has returned meanwhile was paid out
 * of the balance, and is made good there.
 */
export function releaseRefund(
  before: PixDebits,
  { amount, fromBlock }: { amount: bigint; fromBlock: bigint },
): PixChange {
  const pix = { ...before, refunding: before.refunding - amount };
  const { shortfall, blocked, disputeId } = pix;
  if (disputeId === null) {
    return {
      pix: bounded({ ...pix, shortfall: shortfall - fromBlock }),
      ofBlock: 0n,
      rest: amount,
    };
  }
  const ofBlock = least(amount, shortfall, roomOf(pix));
  const after = bounded({ ...pix, blocked: blocked + ofBlock, shortfall: shortfall - ofBlock });
  return { pix: after, ofBlock, rest: amount - ofBlock };
}

/** As much of the dispute as refunds, returns and an older block have left of the Pix; perhaps nothing. */
export function blockPix(
  pix: PixDebits,
  { disputeId, amount }: { disputeId: string; amount: bigint },
): PixChange {
  const moved = least(amount, roomOf(pix));
  const after = bounded({
    ...pix,
    blocked: pix.blocked + moved,
    shortfall: pix.shortfall + amount - moved,
    disputeId,
    disputed: amount,
  });
  return { pix: after, ofBlock: moved, rest: 0n };
}

/**
 * What is left of the block, at most `amount`; where a newer dispute blocks, only what that one has no claim to, and
 * what the older one lacked is missed no more.
 */
export function unblockPix(
  pix: PixDebits,
  { disputeId, amount }: { disputeId: string; amount: bigint },
): PixChange {
  const isNewest = pix.disputeId === null || pix.disputeId === disputeId;
  const moved = least(amount, isNewest ? pix.blocked : pix.blocked - pix.disputed);
  const blocked = pix.blocked - moved;
  const after = isNewest
    ? { ...pix, blocked, shortfall: 0n, disputeId: null, disputed: 0n }
    : { ...pix, blocked, shortfall: least(pix.shortfall, pix.disputed - blocked) };
  return { pix: bounded(after), ofBlock: moved, rest: 0n };
}

/** `disputeId`: whose loss it is; null where it follows from no dispute. */
type PixReturn = { amount: bigint; from: 'blocked' | 'available'; disputeId: string | null };

/**
 * Money that the acquirer has given back: out of the block of its own dispute first, and out of another one's only as
 * far as that cannot stay. Open refunds do not count: the acquirer has arbitrated, and will not do them. Null: more
 * than the Pix would be gone.
 */
export function returnPix(
  pix: PixDebits,
  { amount, from, disputeId }: PixReturn,
): PixChange | null {
  const { received, refunded, returned, blocked, disputed, shortfall } = pix;
  if (refunded + returned + amount > received) return null;
  const gone = { ...pix, returned: returned + amount };
  const isOfAnother = disputeId !== null && pix.disputeId !== null && disputeId !== pix.disputeId;
  const own = isOfAnother ? blocked - disputed : blocked;
  const wanted = from === 'blocked' ? least(own, amount) : 0n;
  const forced = least(blocked, amount, -roomOf(gone));
  const ofBlock = wanted > forced ? wanted : forced;
  const rest = amount - ofBlock;
  const missing = isOfAnother ? shortfall : shortfall - rest;
  const after = bounded({ ...gone, blocked: blocked - ofBlock, shortfall: missing });
  return { pix: after, ofBlock, rest };
}

function leftOf({ received, refunding, refunded, returned }: PixDebits): bigint {
  return received - refunding - refunded - returned;
}

/** What could still be blocked of it. */
function roomOf(pix: PixDebits): bigint {
  return leftOf(pix) - pix.blocked;
}

/** Nothing can be short that is gone or blocked. */
function bounded(pix: PixDebits): PixDebits {
  const { received, refunded, returned, blocked, shortfall } = pix;
  return { ...pix, shortfall: least(shortfall, received - refunded - returned - blocked) };
}

/** The smallest of them, but never below zero. */
function least(...sums: readonly bigint[]): bigint {
  let smallest = sums[0] ?? 0n;
  for (const sum of sums) if (sum < smallest) smallest = sum;
  return smallest > 0n ? smallest : 0n;
}
