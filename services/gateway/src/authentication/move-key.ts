import type { ApiKeyId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { countKeyMoved, reportKeyNotMoved } from '#events.ts';

import { type KeyToMove, moveKey } from './find-keys.sql.ts';
import type { Peppers } from './peppers.ts';

/** Keys that are moved at once; the others are moved at their next use. */
const MOVES_MAX = 4;

/**
 * Has a key that rests on the older of two peppers rest on the newer one, beside the request that used it: a move that
 * fails refuses nobody, and is tried again at the next use. Never the other way, so that gateways whose turn has not
 * come yet do not undo it.
 */
export function createMoveKey(deps: {
  db: Database;
  peppers: Peppers;
  logger: Logger;
}): (key: KeyToMove) => void {
  const { current, other } = deps.peppers;
  const moving = new Set<ApiKeyId>();
  return (key) => {
    if (other === null || other.version > current.version) return;
    if (moving.has(key.id) || moving.size === MOVES_MAX) return;
    moving.add(key.id);
    void move(key).finally(() => moving.delete(key.id));
  };

  async function move(key: KeyToMove): Promise<void> {
    try {
      if (await moveKey(deps.db, key, current.version)) countKeyMoved();
    } catch (error) {
      reportKeyNotMoved(deps.logger, error);
    }
  }
}
