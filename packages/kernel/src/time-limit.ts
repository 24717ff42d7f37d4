/** What is left at least for what was asked by a process that then had no turn: it may not even be sent yet. */
const LATE_MS_MIN = 50;

/**
 * Calls `onPassed` after `ms`, and once sockets have been read after that: for answers that are waited for. Where this
 * process had no turn for so long, because it was frozen or busy, its timers run first, though the answer may have come
 * long ago, or the question waits here to be sent. So the time passes in two parts, with a look at the sockets after
 * each. The second is what is left, or, where that is nothing, just enough for a peer that answers at once: nothing new
 * begins late. Plain timers, because each call of a service makes one.
 *
 * @returns what ends the limit: nothing is called afterwards
 */
export function startTimeLimit(ms: number, onPassed: () => void): () => void {
  const endMs = performance.now() + ms;
  let isEnded = false;
  let timer = setTimeout(() => {
    const leftMs = Math.max(endMs - performance.now(), Math.min(ms / 2, LATE_MS_MIN));
    timer = setTimeout(() => setImmediate(pass), leftMs);
  }, ms / 2);
  return () => {
    isEnded = true;
    clearTimeout(timer);
  };

  function pass(): void {
    if (!isEnded) onPassed();
  }
}
