import type { Parts } from '@pixmesh/service/start-service';

import { checkConnectionBudget } from './connection-budget.ts';
import { observeServer } from './observe-server.ts';
import { openConnections } from './open-connections.ts';
import { createPool, type Database } from './pool.ts';

/** Together 20. What shares statements needs few connections. */
const POOL_SIZE = 16;
const WRITES_POOL_SIZE = 4;
/** How long a statement of many items waits for a row: a process that stands still may hold one for seconds. */
const WRITES_LOCK_TIMEOUT_MS = 1_000;

/** `writes`: for statements that many writes share (`createWriteBatcher`); `db`: for all others. */
export type ServicePools = { db: Database; writes: Database };

/** Opens the connections of a service that writes for many requests at once. */
export async function openServicePools(
  to: { url: string; applicationName: string },
  { logger, use }: Parts,
): Promise<ServicePools> {
  const db = use('pool', createPool({ ...to, max: POOL_SIZE }));
  observeServer(db);
  void checkConnectionBudget({ db, logger, wanted: POOL_SIZE + WRITES_POOL_SIZE });
  const writes = use('pool of shared writes', openWritesPool(to));
  await openConnections(db, writes);
  return { db, writes };
}

function openWritesPool(to: { url: string; applicationName: string }): Database {
  return createPool({
    ...to,
    name: 'writes',
    max: WRITES_POOL_SIZE,
    plansOnce: true,
    lockTimeoutMs: WRITES_LOCK_TIMEOUT_MS,
  });
}
