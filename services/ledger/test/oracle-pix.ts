/** One received Pix as the oracle has it: what became of its cents, in plain numbers. */
export type OraclePix = {
  received: number;
  refunding: number;
  refunded: number;
  returned: number;
  blocked: number;
  /** What a refund on its way keeps from being blocked. */
  short: number;
  dispute: { id: string; amount: number } | null;
};

/** What becomes of a Pix, and how much of the sum concerns its block; `null` where the sum is more than is left. */
type Step = { pix: OraclePix; block: number } | null;

export function freshPix(received: number): OraclePix {
  const nothing = { refunding: 0, refunded: 0, returned: 0, blocked: 0, short: 0 };
  return { received, ...nothing, dispute: null };
}

export function refundHeld(pix: OraclePix, sum: number): Step {
  if (sum > stillThere(pix) - pix.refunding) return null;
  const block = Math.min(pix.blocked, sum);
  const after = { ...pix, refunding: pix.refunding + sum, blocked: pix.blocked - block };
  return { pix: withShort(after, pix.short + block), block };
}

export function refundDone(pix: OraclePix, sum: number, fromBlock: number): Step {
  if (sum > stillThere(pix)) return null;
  const after = { ...pix, refunding: pix.refunding - sum, refunded: pix.refunded + sum };
  return { pix: withShort(after, pix.short - fromBlock), block: 0 };
}

export function refundFailed(pix: OraclePix, sum: number, fromBlock: number): NonNullable<Step> {
  const after = { ...pix, refunding: pix.refunding - sum };
  if (!pix.dispute) return { pix: withShort(after, pix.short - fromBlock), block: 0 };
  const block = Math.max(0, Math.min(sum, pix.short, free(after)));
  after.blocked += block;
  return { pix: withShort(after, pix.short - block), block };
}

export function disputeOpens(pix: OraclePix, id: string, sum: number): NonNullable<Step> {
  const block = Math.max(0, Math.min(sum, free(pix)));
  const after = { ...pix, blocked: pix.blocked + block, dispute: { id, amount: sum } };
  return { pix: withShort(after, pix.short + sum - block), block };
}

export function disputeEnds(pix: OraclePix, id: string, sum: number): NonNullable<Step> {
  const newer = pix.dispute && pix.dispute.id !== id ? pix.dispute : null;
  const block = Math.max(0, Math.min(sum, pix.blocked - (newer?.amount ?? 0)));
  const after = { ...pix, blocked: pix.blocked - block, dispute: newer };
  const short = newer ? Math.min(pix.short, newer.amount - after.blocked) : 0;
  return { pix: withShort(after, short), block };
}

/**
 * `isForBlock`: out of the block of its own dispute as far as that goes; else only what must leave it. `dispute` is
 * null where the sum follows from none.
 */
export function goesBack(
  pix: OraclePix,
  { sum, isForBlock, dispute }: { sum: number; isForBlock: boolean; dispute: string | null },
): Step {
  if (sum > stillThere(pix)) return null;
  const gone = { ...pix, returned: pix.returned + sum };
  const stranger = dispute !== null && pix.dispute?.id !== dispute ? pix.dispute : null;
  const claimed = isForBlock ? Math.max(0, pix.blocked - (stranger?.amount ?? 0)) : 0;
  const block = Math.min(pix.blocked, sum, Math.max(claimed, -free(gone)));
  gone.blocked -= block;
  return { pix: withShort(gone, stranger ? pix.short : pix.short - (sum - block)), block };
}

function stillThere({ received, refunded, returned }: OraclePix): number {
  return received - refunded - returned;
}

function free(pix: OraclePix): number {
  return stillThere(pix) - pix.refunding - pix.blocked;
}

function withShort(pix: OraclePix, short: number): OraclePix {
  return { ...pix, short: Math.max(0, Math.min(short, stillThere(pix) - pix.blocked)) };
}
