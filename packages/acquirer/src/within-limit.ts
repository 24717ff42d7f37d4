import { startTimeLimit } from '@pixmesh/kernel/time-limit';

/** Runs `work` under a signal that aborts once the acquirer has not answered in time; the limit ends with the work. */
export async function withinLimit<T>(
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const endLimit = startTimeLimit(ms, () =>
    limit.abort(new DOMException('the acquirer did not answer in time', 'TimeoutError')),
  );
  try {
    return await work(limit.signal);
  } finally {
    endLimit();
  }
}
