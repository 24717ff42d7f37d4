import { timeOfId } from '@pixmesh/kernel/ids';

/** History of so long ago is always retained, and of so soon prepared. */
const NOW_MS = 7 * 24 * 60 * 60 * 1000;

/** Whether a partition takes the event, by the time in its id. */
export function isOfNow({ eventId }: { eventId: string }): boolean {
  return Math.abs(timeOfId(eventId).getTime() - Date.now()) <= NOW_MS;
}
