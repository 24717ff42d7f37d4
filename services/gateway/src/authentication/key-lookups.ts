import type { Database } from '@pixmesh/postgres/pool';
import { bindToRequest } from '@pixmesh/telemetry/request-id';

import { findUsableKeys, type KeyRow, type PresentedKey } from './find-keys.sql.ts';

/** Reads under way at once; what is asked for meanwhile waits for one of them to end. */
const READS_MAX = 2;
/** Keys in one read. */
const KEYS_MAX = 100;

type Lookup = {
  key: PresentedKey;
  found: PromiseWithResolvers<KeyRow>;
  /** Does something on behalf of the request that asked first. */
  onBehalf: (work: () => void) => void;
};

/**
 * Looks presented keys up, those that wait together in one read, and each of them once: a thousand requests that arrive
 * at the same moment stand in nobody's way. None joins a read that has begun, so what it is told is never older than
 * its question.
 */
export function createKeyLookups(db: Database): (key: PresentedKey) => Promise<KeyRow> {
  const waiting = new Map<string, Lookup>();
  let reads = 0;
  return async (key) => {
    const name = `${key.publicId} ${key.digest.toString('base64')}`;
    const known = waiting.get(name);
    if (known !== undefined) return await known.found.promise;
    const lookup = {
      key,
      found: Promise.withResolvers<KeyRow>(),
      onBehalf: bindToRequest((work: () => void) => work()),
    };
    waiting.set(name, lookup);
    readWaiting();
    return await lookup.found.promise;
  };

  function readWaiting(): void {
    const taken = [...waiting].slice(0, KEYS_MAX);
    const [first] = taken;
    if (first === undefined || reads === READS_MAX) return;
    for (const [name] of taken) waiting.delete(name);
    reads += 1;
    const lookups = taken.map(([, lookup]) => lookup);
    first[1].onBehalf(() => void read(lookups));
  }

  async function read(lookups: readonly Lookup[]): Promise<void> {
    try {
      const rows = await findUsableKeys(
        db,
        lookups.map(({ key }) => key),
      );
      for (const [index, { found }] of lookups.entries()) found.resolve(rows[index] as KeyRow);
    } catch (error) {
      for (const { found } of lookups) found.reject(error);
    } finally {
      reads -= 1;
      readWaiting();
    }
  }
}
