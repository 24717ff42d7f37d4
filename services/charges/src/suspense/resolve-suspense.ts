import type { ResolveSuspenseRequest } from '@pixmesh/contracts/internal/suspense';
import { AppError } from '@pixmesh/kernel/app-error';
import type { AccountId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';

import { findRecorded } from '#payment/received-pix.sql.ts';

import { findResolution, insertResolution, type Resolution } from './resolutions.sql.ts';
import { acceptCommands } from './suspense-commands.ts';
import { itemOf, type SuspenseItem } from './suspense-item.ts';

export type ResolveSuspenseDeps = { db: Database; kickOutbox(): void; kickReturns(): void };

export type Resolved = {
  resolution: Resolution;
  /** The same was asked for before. */
  repeated: boolean;
};

/**
 * An operator ends an item of suspense (decision 141): `accept` gives it to its owner, or to the account named where it
 * has none; `return` sends it back to its payer. The first one stands.
 *
 * @throws AppError `NOT_FOUND`; `VALIDATION_ERROR` with `account_id`; `CONFLICT` where another action came first
 */
export async function resolveSuspense(
  deps: ResolveSuspenseDeps,
  itemId: string,
  request: ResolveSuspenseRequest,
): Promise<Resolved> {
  const item = await findItem(deps.db, itemId, request.item.end_to_end_id);
  const accountId = recipientOf(item, request);
  const { action, operator_id: requestedBy } = request;
  const commands = accountId === null ? [] : acceptCommands(item, accountId);
  const stored = await insertResolution(deps.db, {
    item,
    action,
    accountId,
    requestedBy,
    commands,
    isToLookAt: action === 'return',
  });
  if (stored !== null) {
    if (action === 'return') deps.kickReturns();
    else deps.kickOutbox();
    return { resolution: stored, repeated: false };
  }
  const standing = await findResolution(deps.db, item.id);
  const isSame = standing?.action === action && standing.accountId === accountId;
  if (standing === null || !isSame) throw new AppError('CONFLICT');
  return { resolution: standing, repeated: true };
}

/** The item as this service recorded it: what the caller saw of it proves nothing. */
async function findItem(db: Database, id: string, endToEndId: string): Promise<SuspenseItem> {
  const [pix] = await findRecorded(db, [endToEndId]);
  const item = pix?.disposition === 'suspense' ? itemOf(pix) : null;
  if (item === null || item.id !== id) throw new AppError('NOT_FOUND');
  return item;
}

/** Who gets the money of an `accept`; null for a return. */
function recipientOf(item: SuspenseItem, request: ResolveSuspenseRequest): AccountId | null {
  const { action, account_id: named } = request;
  const isForeign = named !== null && named !== item.ownerId;
  const owner = named ?? item.ownerId;
  if (action === 'return' ? isForeign : owner === null || (item.ownerId !== null && isForeign)) {
    throw new AppError('VALIDATION_ERROR', { details: ['account_id'] });
  }
  return action === 'return' ? null : owner;
}
