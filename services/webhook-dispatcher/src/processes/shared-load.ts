import type { SenderLoad } from './processes.sql.ts';

/** Below this part of its CPU or slots a sender has enough of both. */
const BUSY_FROM = 1 / 2;
/** Between two senders that differ by less nothing moves: lanes would go to and fro. */
const DIFFERENCE_MIN = 1 / 4;

/**
 * The part of its lanes that a sender leaves to others now: what it has above the average of all, where it is short of
 * CPU or slots and another one has room. A lane that moves waits for its sends to end and for the other's next poll.
 */
export function shareToLeave(own: SenderLoad, others: readonly SenderLoad[]): number {
  const loads = others.map(loadOf);
  const load = loadOf(own);
  if (load < BUSY_FROM || load - Math.min(...loads) < DIFFERENCE_MIN) return 0;
  const average = loads.reduce((sum, other) => sum + other, load) / (loads.length + 1);
  return (load - average) / load;
}

/** What a sender is short of decides; more than one core is no help to it. */
function loadOf({ cpuShare, slotsUsed, slotsMax }: SenderLoad): number {
  return Math.max(Math.min(cpuShare, 1), slotsUsed / slotsMax);
}
