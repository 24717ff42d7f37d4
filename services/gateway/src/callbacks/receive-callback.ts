import { newId } from '@pixmesh/kernel/ids';
import type { OutboundEvent } from '@pixmesh/postgres/events';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { reportSkippedItems, reportUnreadableCallback } from '#reports.ts';
import { failpoint } from '#failpoints.ts';

import { buildEvents } from './build-events.ts';
import { storeCallback } from './callbacks.sql.ts';
import type { KeepUnusable } from './keep-unusable.ts';
import { splitBody } from './split-body.ts';
import { isMostlyItems, itemsWithDigest } from './strip-body.ts';

export type CallbackDeps = {
  db: Database;
  logger: Logger;
  keepUnusable: KeepUnusable;
  wakeOutbox(): void;
};

/**
 * Makes a callback durable and queues its items. When this returns, nothing can be lost: the relay publishes
 * what is queued, and what could not be read or stands beside the items stays as it came, within bounds. A callback
 * proves nothing, so whatever it holds is accepted (decisions 212, 213).
 */
export async function receiveCallback(deps: CallbackDeps, bytes: Buffer): Promise<void> {
  const callback = { callbackId: newId(), receivedAt: new Date() };
  const body = splitBody(bytes);
  const items = body.kind === 'items' ? body.items : [];
  const { events, published, skipped } = buildEvents(items, callback);
  const isUsable = events.some(isOfKnownKind);
  const isWhole = (isUsable && isMostlyItems(bytes, published)) || deps.keepUnusable(bytes);
  if (!isUsable && !isWhole) return;
  const kept = isWhole ? { body: bytes, sha256: null } : itemsWithDigest(bytes, published);
  const skippedInAll = skipped + (body.kind === 'items' ? body.skipped : 0);
  await failpoint('gateway.callback.before-store');
  await storeCallback(
    deps.db,
    {
      id: callback.callbackId,
      ...kept,
      parsed: body.kind === 'items',
      skipped: skippedInAll,
      receivedAt: callback.receivedAt,
    },
    events,
  );
  await failpoint('gateway.callback.after-store');
  if (events.length > 0) deps.wakeOutbox();
  if (body.kind === 'unreadable') reportUnreadableCallback(deps.logger, callback.callbackId);
  if (skippedInAll > 0) reportSkippedItems(deps.logger, callback.callbackId, skippedInAll);
}

function isOfKnownKind(event: OutboundEvent): boolean {
  return event.headers?.['kind'] !== 'unknown';
}
