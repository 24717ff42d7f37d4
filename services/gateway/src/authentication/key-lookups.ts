import { OWN_WORK, runForAccount } from '@pixmesh/fair-share/current-account';
import { AppError } from '@pixmesh/kernel/app-error';
import type { Database } from '@pixmesh/postgres/pool';
import { bindToRequest } from '@pixmesh/telemetry/request-id';

import { findUsableKeys, type KeyRow, type PresentedKey } from './find-keys.sql.ts';

/** Reads under way at once; what is asked for meanwhile waits for one of them to end. */
const READS_MAX = 2;
/**
 * A read that takes longer counts no more among those under way: its connection may hang, and what waits is read by
 * another one. Above what a read takes in a busy database.
 */
const READ_SLOW_MS = 250;
/** How long a lookup waits for its read to begin. */
const WAIT_MS_MAX = 3_000;
/** Keys in one read. */
const KEYS_MAX = 100;

type Lookup = {
  key: PresentedKey;
  found: PromiseWithResolvers<KeyRow>;
  /** Until its read begins. */
  timer: NodeJS.Timeout;
  /** Does something on behalf of the request that asked first. */
  onBehalf: (work: () => void) => void;
};

/**
 * Looks presented keys up, each once. Requests that come together share a few reads. A lookup joins no read that has
 * begun, so its answer is never older than the lookup.
 */
export function createKeyLookups(db: Database): (key: PresentedKey) => Promise<KeyRow> {
  const waiting = new Map<string, Lookup>();
  let reads = 0;
  return async (key) => {
    const name = `${key.publicId} ${key.digest.toString('base64')}`;
    const known = waiting.get(name);
    if (known !== undefined) return await known.found.promise;
    const found = Promise.withResolvers<KeyRow>();
    const lookup = {
      key,
      found,
      timer: setTimeout(() => {
        waiting.delete(name);
        found.reject(
          new AppError('DEPENDENCY_UNAVAILABLE', { message: 'no read of keys in time' }),
        );
      }, WAIT_MS_MAX),
      onBehalf: bindToRequest((work: () => void) => work()),
    };
    waiting.set(name, lookup);
    readWaiting();
    return await found.promise;
  };

  function readWaiting(): void {
    if (reads === READS_MAX) return;
    const taken = [...waiting].slice(0, KEYS_MAX);
    const [first] = taken;
    if (first === undefined) return;
    for (const [name, { timer }] of taken) {
      waiting.delete(name);
      clearTimeout(timer);
    }
    const lookups = taken.map(([, lookup]) => lookup);
    // Its keys belong to many accounts: it waits in the turns of none of them.
    first[1].onBehalf(() => runForAccount(OWN_WORK, () => void read(lookups)));
  }

  async function read(lookups: readonly Lookup[]): Promise<void> {
    const endRead = beginRead();
    try {
      const rows = await findUsableKeys(
        db,
        lookups.map(({ key }) => key),
      );
      for (const [index, { found }] of lookups.entries()) found.resolve(rows[index] as KeyRow);
    } catch (error) {
      for (const { found } of lookups) found.reject(error);
    } finally {
      endRead();
    }
  }

  /** Counts a read until it ends or is slow, whichever comes first. */
  function beginRead(): () => void {
    let isCounted = true;
    reads += 1;
    const end = (): void => {
      clearTimeout(timer);
      if (!isCounted) return;
      isCounted = false;
      reads -= 1;
      readWaiting();
    };
    const timer = setTimeout(end, READ_SLOW_MS);
    return end;
  }
}
