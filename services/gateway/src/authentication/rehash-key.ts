import type { ApiKeyId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { countKeyRehashed, reportKeyNotRehashed } from '#reports.ts';

import { type KeyToRehash, rehashKey } from './find-keys.sql.ts';
import type { Peppers } from './peppers.ts';

/** Keys that are rehashed at once; the others are rehashed at their next use. */
const REHASHES_MAX = 4;

/**
 * Rehashes a key from the older of two peppers to the newer one, beside the request that used it. A failure refuses
 * nobody and is tried again at the next use. Never the other way, so that a gateway with the older configuration does
 * not undo it.
 */
export function createRehashKey(deps: {
  db: Database;
  peppers: Peppers;
  logger: Logger;
}): (key: KeyToRehash) => void {
  const { current, other } = deps.peppers;
  const rehashing = new Set<ApiKeyId>();
  return (key) => {
    if (other === null || other.version > current.version) return;
    if (rehashing.has(key.id) || rehashing.size === REHASHES_MAX) return;
    rehashing.add(key.id);
    void rehash(key).finally(() => rehashing.delete(key.id));
  };

  async function rehash(key: KeyToRehash): Promise<void> {
    try {
      if (await rehashKey(deps.db, key, current.version)) countKeyRehashed();
    } catch (error) {
      reportKeyNotRehashed(deps.logger, error);
    }
  }
}
