import type { Queryable } from '@pixmesh/postgres/pool';

import { countOtherVersions, SEALED_TABLES, type SealedTable } from './sealed-secrets.sql.ts';
import type { SealingRing } from './sealing-ring.ts';

/** Stands for every version whose key this process does not hold. */
const UNKNOWN = 'unknown';

export type OldSecrets = { table: SealedTable; version: string; count: number };

/**
 * How many secrets are not sealed to the newest key, by table and version; zeros included, so that they can be seen.
 */
export async function countOldSecrets(db: Queryable, ring: SealingRing): Promise<OldSecrets[]> {
  const counts: OldSecrets[] = [];
  for (const table of SEALED_TABLES) {
    const found = await countOtherVersions(db, table, ring.newestVersion);
    for (const version of ring.olderVersions) {
      counts.push({ table, version, count: found.get(version) ?? 0 });
      found.delete(version);
    }
    const count = [...found.values()].reduce((sum, some) => sum + some, 0);
    counts.push({ table, version: UNKNOWN, count });
  }
  return counts;
}
