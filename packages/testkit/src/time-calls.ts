/** Times of calls, in milliseconds. */
export type CallTimes = { calls: number; p50Ms: number; p99Ms: number; maxMs: number };

/** Makes calls one after the other, and tells how long they took. */
export async function timeCalls(calls: readonly (() => Promise<unknown>)[]): Promise<CallTimes> {
  const times: number[] = [];
  for (const call of calls) {
    const startedMs = performance.now();
    await call();
    times.push(performance.now() - startedMs);
  }
  times.sort((one, other) => one - other);
  const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))];
  return { calls: times.length, p50Ms: at(0.5) ?? 0, p99Ms: at(0.99) ?? 0, maxMs: at(1) ?? 0 };
}
