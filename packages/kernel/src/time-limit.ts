/**
 * Calls `onPassed` after `ms`, and once sockets have been read after that: for answers that are waited for. Where this
 * process had no turn for so long, because it was frozen or busy, its timers run first, though the answer may have come
 * long ago. So the time passes in two parts, with a look at the sockets after each. The second is what is left: nothing
 * new begins late. Plain timers, because each call of a service makes one.
 *
 * @returns what ends the limit: nothing is called afterwards
 */
export function startTimeLimit(ms: number, onPassed: () => void): () => void {
  const endMs = performance.now() + ms;
  let isEnded = false;
  let timer = setTimeout(() => {
    timer = setTimeout(() => setImmediate(pass), Math.max(1, endMs - performance.now()));
  }, ms / 2);
  return () => {
    isEnded = true;
    clearTimeout(timer);
  };

  function pass(): void {
    if (!isEnded) onPassed();
  }
}
