import { startTimeLimit } from '@pixmesh/kernel/time-limit';
import { within } from '@pixmesh/kernel/within';

/** The instant until which a caller waits. Travels between services as the milliseconds that remain. */
export type Deadline = {
  remainingMs(): number;
  /** Aborts when the deadline passes. */
  signal(): AbortSignal;
};

/** Starts a deadline now, by a clock that never jumps. */
export function deadlineIn(ms: number): Deadline {
  const end = performance.now() + ms;
  const remainingMs = (): number => Math.max(0, Math.floor(end - performance.now()));
  return { remainingMs, signal: () => AbortSignal.timeout(remainingMs()) };
}

/** The deadline a caller sent, never later than our own limit. */
export function deadlineFrom(header: string | string[] | undefined, maxMs: number): Deadline {
  const asked = typeof header === 'string' ? Number.parseInt(header, 10) : Number.NaN;
  return deadlineIn(Number.isNaN(asked) ? maxMs : Math.min(Math.max(0, asked), maxMs));
}

/**
 * Runs `work` under a signal that aborts at the deadline, and ends with it there, whatever the work does. Sockets are
 * read once more before: where this process had no turn for long, its timers run first, though the answer has come. The
 * timer ends with the work; that of `AbortSignal.timeout` cannot be cleared.
 */
export async function withSignal<T>(
  deadline: Deadline,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const late = Promise.withResolvers<never>();
  const end = (): void => {
    const reason = new DOMException('too late', 'TimeoutError');
    controller.abort(reason);
    late.reject(reason);
  };
  const endLimit = startTimeLimit(deadline.remainingMs(), end);
  try {
    return await Promise.race([work(controller.signal), late.promise]);
  } finally {
    endLimit();
  }
}

/**
 * What the work comes to, or null where it has not ended in time. It goes on then; a later failure is left to what
 * repeats it.
 */
export async function untilDeadline<T>(work: Promise<T>, deadline: Deadline): Promise<T | null> {
  return await within(deadline.remainingMs(), work, null);
}
