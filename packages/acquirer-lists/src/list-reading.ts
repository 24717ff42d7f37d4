import type { ListWindow, PageOutcome, UnreadableItem } from '@pixmesh/acquirer/acquirer';

/**
 * One way of reading a list of the acquirer, which shows items by the time when they came to be and not when they
 * changed: `fresh` reads what came since the last run, with an overlap for what shows late (`fresh-readings.ts` makes
 * two of them); `walk` goes over the days before, backwards from the present to its horizon, and begins anew.
 */
export type Windows =
  | { kind: 'fresh'; overlapMs: number }
  | {
      kind: 'walk';
      horizonMs: number;
      /** How long one round over all days takes, as long as `pagesMax` pages a run are enough. */
      roundMs: number;
    };

export type ListReading<Item> = {
  /** Its row in `acquirer_lists`. */
  name: string;
  windows: Windows;
  /** Between two runs. */
  intervalMs: number;
  /** Pages of one run; the next one goes on with more. */
  pagesMax: number;
  read(page: ListWindow): Promise<PageOutcome<Item>>;
  /** Compares a page with what is recorded, and requests checks of what differs. Safe to repeat. */
  compare(items: readonly Item[], unreadable: readonly UnreadableItem[]): Promise<void>;
};
