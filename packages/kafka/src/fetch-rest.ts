import { within } from '@pixmesh/kernel/within';

/** Shorter than a fetch waits for messages where none comes, so no heartbeat and no rebalance waits longer for it. */
const INTERVAL_MS = 40;

export type FetchRest = {
  /** For the library's event, at the beginning of each fetch. */
  fetchBegins(): void;
  /**
   * Waits for the end of a batch, which answers whether the next fetch may be late as far as it knows; then, where all
   * batches of the fetch say so, until it is due.
   */
  after(handling: Promise<boolean>): Promise<void>;
};

/**
 * A fetch costs the same whatever it brings, and a group that reads a topic of which most messages are for others would
 * make one for each publication. So the fetch behind one that brought nothing of the group's own begins 40 ms after
 * that one began, at the soonest: an own message is late by less, and one that comes after a quiet moment is not. The
 * library fetches when all batches of a fetch have ended, so the rest is at the end of those. A stop ends it.
 */
export function createFetchRest(stopping: AbortSignal): FetchRest {
  let fetch = newFetch();
  stopping.addEventListener('abort', () => fetch.over.resolve());
  return {
    fetchBegins: () => {
      fetch = newFetch();
    },
    after: async (handling) => {
      const { beganMs, over } = fetch;
      let mayRest = false;
      try {
        mayRest = await handling;
      } finally {
        if (!mayRest || stopping.aborted) over.resolve();
      }
      const restMs = beganMs + INTERVAL_MS - performance.now();
      if (restMs > 0) await within(restMs, over.promise, undefined);
    },
  };
}

function newFetch() {
  return { beganMs: performance.now(), over: Promise.withResolvers<void>() };
}
