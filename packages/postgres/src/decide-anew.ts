import { AppError } from '@pixmesh/kernel/app-error';

/** Another process has to move the same row between read and write each time, so that a few are enough. */
const TRIES_MAX = 5;

/**
 * Reads, decides and writes, and begins anew where what was read has moved before the write: each try is a fresh
 * decision. `what` names the row that moves.
 *
 * @throws AppError `DEPENDENCY_UNAVAILABLE` after the last try, so that the caller comes again
 */
export async function decideAnew<T>(what: string, tryOnce: () => Promise<T | 'moved'>): Promise<T> {
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const outcome = await tryOnce();
    if (outcome !== 'moved') return outcome;
  }
  throw new AppError('DEPENDENCY_UNAVAILABLE', { message: `${what} kept moving` });
}
