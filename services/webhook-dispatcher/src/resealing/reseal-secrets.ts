import { openSecret, sealSecret } from '@pixmesh/kernel/sealed-secret';
import { SealedSecretError } from '@pixmesh/kernel/sealed-secret-keys';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import {
  findSealedTo,
  takeResealingLease,
  replaceSealed,
  type Resealed,
  type SealedSecret,
  type SealedTable,
} from './sealed-secrets.sql.ts';
import type { SealingRing } from './sealing-ring.ts';

/** Secrets per commit. Opening and sealing them stalls the sends of the process for a few milliseconds. */
export const RESEAL_BATCH = 50;

export type ResealDeps = {
  db: Database;
  logger: Logger;
  ring: SealingRing;
  /** Owners whose secrets could not be opened, found so far: they are left alone. */
  unreadable: Record<SealedTable, Set<string>>;
};

/**
 * Re-wraps some secrets that are sealed to one older version, to the newest key. Answers how many were moved: none
 * when nothing of that version is left that can be opened, or while another process does it. Deliveries go on
 * meanwhile, because either key opens what is sealed to it.
 */
export async function resealBatch(
  deps: ResealDeps,
  table: SealedTable,
  version: string,
): Promise<number> {
  return await deps.db.transaction(async (tx) => {
    if (!(await takeResealingLease(tx))) return 0;
    const without = [...deps.unreadable[table]];
    const found = await findSealedTo(tx, table, { version, without, limit: RESEAL_BATCH });
    const resealed = found.flatMap((secret) => resealOne(deps, table, secret));
    return resealed.length === 0 ? 0 : await replaceSealed(tx, table, resealed);
  });
}

function resealOne(deps: ResealDeps, table: SealedTable, secret: SealedSecret): Resealed[] {
  const { ownerId, accountId, sealed } = secret;
  const context = `${accountId}/${ownerId}`;
  try {
    const clear = openSecret(deps.ring.privateKeys, sealed, context);
    return [{ ownerId, from: sealed, to: sealSecret(deps.ring.newestPublicKey, clear, context) }];
  } catch (error) {
    if (!(error instanceof SealedSecretError)) throw error;
    deps.unreadable[table].add(ownerId);
    deps.logger.error({ table, owner_id: ownerId }, 'sealed secret not readable');
    return [];
  }
}
