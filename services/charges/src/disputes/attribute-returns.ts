/** What the acquirer shows of one dispute of a Pix, as far as it decides which returns are its own. */
export type DisputeFacts = {
  infractionId: string;
  amount: bigint;
  openedAt: Date;
  /** When it was decided for the payer; null while it is not, or where the acquirer gives no time. */
  acceptedAt: Date | null;
};

/** One return of the Pix under the MED. */
export type ReturnFacts = {
  returnId: string;
  amount: bigint;
  /** When the acquirer carried it out; null where it gives no time. */
  settledAt: Date | null;
};

/** A return shows with the decision that it follows from, at times a moment before it. */
const SKEW_MS = 600_000;

/**
 * How much of a Pix went back for each of its disputes, by infraction id. Only what the acquirer shows counts, so that
 * the answer is the same whatever was read first: a return belongs to a dispute that was open before it and has room
 * for it, first of all to the one that was decided for the payer last before it, else to the one opened last. Where
 * nothing fits, it belongs to the nearest: no return is without a dispute.
 */
export function attributeReturns(
  disputes: readonly DisputeFacts[],
  returns: readonly ReturnFacts[],
): Map<string, bigint> {
  const returned = new Map(disputes.map(({ infractionId }) => [infractionId, 0n]));
  for (const one of returns.toSorted(byTime)) {
    const settledMs = timeOf(one.settledAt);
    const [owner] = disputes
      .map((dispute) => ({ dispute, rank: rankOf(dispute, { ...one, settledMs, returned }) }))
      .toSorted((a, b) => compare(a.rank, b.rank) || byId(a.dispute, b.dispute));
    if (owner === undefined) break;
    const { infractionId } = owner.dispute;
    returned.set(infractionId, (returned.get(infractionId) ?? 0n) + one.amount);
  }
  return returned;
}

type Seen = { amount: bigint; settledMs: number; returned: ReadonlyMap<string, bigint> };

/** Smaller is nearer, from left to right. */
function rankOf(
  { infractionId, amount, openedAt, acceptedAt }: DisputeFacts,
  seen: Seen,
): number[] {
  const openedMs = openedAt.getTime();
  const isOpened = openedMs <= seen.settledMs;
  const hasRoom = (seen.returned.get(infractionId) ?? 0n) + seen.amount <= amount;
  const acceptedMs = acceptedAt?.getTime() ?? Number.POSITIVE_INFINITY;
  const isAccepted = acceptedAt !== null && acceptedMs <= seen.settledMs + SKEW_MS;
  return [
    isOpened ? 0 : 1,
    hasRoom ? 0 : 1,
    isAccepted ? 0 : 1,
    isAccepted ? -acceptedMs : 0,
    isOpened ? -openedMs : openedMs,
  ];
}

function compare(one: readonly number[], other: readonly number[]): number {
  const place = one.findIndex((value, index) => value !== other[index]);
  return place === -1 ? 0 : (one[place] ?? 0) - (other[place] ?? 0);
}

function byId(one: DisputeFacts, other: DisputeFacts): number {
  return one.infractionId < other.infractionId ? -1 : 1;
}

/** Those without a time come last: they take the room that the others leave. */
function byTime(one: ReturnFacts, other: ReturnFacts): number {
  const [a, b] = [timeOf(one.settledAt), timeOf(other.settledAt)];
  if (a !== b) return a < b ? -1 : 1;
  return one.returnId < other.returnId ? -1 : 1;
}

function timeOf(settledAt: Date | null): number {
  return settledAt?.getTime() ?? Number.POSITIVE_INFINITY;
}
