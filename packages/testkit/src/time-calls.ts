/** Times of calls, in milliseconds. */
export type CallTimes = { calls: number; p50Ms: number; p99Ms: number; maxMs: number };

/** Makes calls one after the other, and returns how long they took. */
export async function timeCalls(calls: readonly (() => Promise<unknown>)[]): Promise<CallTimes> {
  return summarizeTimes(await measureCalls(calls));
}

/** How long each call took, in milliseconds, made one after the other. */
export async function measureCalls(calls: readonly (() => Promise<unknown>)[]): Promise<number[]> {
  const times: number[] = [];
  for (const call of calls) {
    const startedMs = performance.now();
    await call();
    times.push(performance.now() - startedMs);
  }
  return times;
}

export function summarizeTimes(times: readonly number[]): CallTimes {
  const sorted = [...times].sort((one, other) => one - other);
  const at = (part: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
  return { calls: sorted.length, p50Ms: at(0.5) ?? 0, p99Ms: at(0.99) ?? 0, maxMs: at(1) ?? 0 };
}
