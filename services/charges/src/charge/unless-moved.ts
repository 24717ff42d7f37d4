import type { Database, Transaction } from '@pixmesh/postgres/pool';

/** What a transaction changes has moved since it was read: the transaction ends, and its caller decides anew. */
export class MovedMeanwhile extends Error {}

/** Commits the work; false, with nothing written, where it ends as `MovedMeanwhile`. */
export async function unlessMoved(
  db: Database,
  work: (tx: Transaction) => Promise<void>,
): Promise<boolean> {
  try {
    await db.transaction(work);
    return true;
  } catch (error) {
    if (error instanceof MovedMeanwhile) return false;
    throw error;
  }
}
