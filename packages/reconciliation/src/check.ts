/**
 * How two records can differ. `missing_left` and `missing_right` name the side of the check's row in the guide that
 * lacks the item; `unavailable` says that a side could not be read, so that nothing was compared.
 */
const BREAK_KINDS = [
  'missing_left',
  'missing_right',
  'amount',
  'state',
  'date',
  'end_to_end_id',
  'unbooked',
  'sum',
  'balance',
  'running_balance',
  'version',
  'gap',
  'unpublished',
  'unanswered',
  'open',
  'unavailable',
] as const;
export type BreakKind = (typeof BREAK_KINDS)[number];

/** `changedAt` of differences inside one snapshot, where nothing can be on its way: they are breaks at once. */
export const NEVER_IN_FLIGHT = new Date(0);

/** A difference that a check has just found. */
export type FoundBreak = {
  kind: BreakKind;
  /** The business key: end-to-end id, payout id, account id, command id. */
  id: string;
  expected?: string | null;
  found?: string | null;
  /** Cents in question, where money differs. */
  amountCents?: bigint | null;
  /**
   * The account whose books show money that is not there, or contradict themselves: its payouts are stopped, where the
   * check and the kind are among `BREAKS_THAT_STOP`. Absent where the difference can be on its way, or takes nothing
   * out.
   */
  accountId?: string | null;
  /**
   * When the later of the two sides changed, if that is known: the window counts from then. Otherwise it counts
   * from the first run that saw the difference.
   */
  changedAt?: Date | null;
};

/**
 * What a run has to compare. A full run compares everything. An incremental one compares what changed since the
 * watermark, and whatever the check had found before: what it does not find again has healed.
 */
export type Scope = {
  /** Null in a full run. */
  since: Date | null;
  /** Ids of the differences that the check's last run left. */
  knownIds: readonly string[];
  /** Aborts when the run has lost its lease or the process stops; long checks read it between chunks. */
  signal: AbortSignal;
};

export type CheckOutcome = {
  /** Items compared. */
  compared: number;
  breaks: FoundBreak[];
  /** Where a side was not complete up to now: up to when it was. The next incremental run goes on from there. */
  comparedUntil?: Date | undefined;
};

/**
 * One comparison of two records of the same thing. `run` throws when a side cannot be read: what was not compared
 * is never reported as equal.
 */
export type Check = {
  name: string;
  /** Younger differences are no breaks yet; 0 where both sides are read in one snapshot. Default: the service's. */
  windowMs?: number;
  run(scope: Scope): Promise<CheckOutcome>;
};
