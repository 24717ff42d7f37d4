import type { ResolveSuspenseRequest } from '@pixmesh/contracts/internal/suspense';
import { explained, invalidRequest } from '@pixmesh/http/refusal';
import { AppError } from '@pixmesh/kernel/app-error';
import type { AccountId, OperatorId } from '@pixmesh/kernel/ids';
import type { Database, Transaction } from '@pixmesh/postgres/pool';

import { isStillDisputed } from '#disputes/suspended-disputes.sql.ts';

import { type LockedItem, lockItem } from './lock-item.sql.ts';
import { insertResolution, lockResolution, type Resolution } from './resolutions.sql.ts';
import { acceptCommands } from './suspense-commands.ts';
import type { SuspenseItem } from './suspense-item.ts';

const DISPUTED = 'The Pix is disputed: its money may still be taken back.';

export type ResolveSuspenseDeps = {
  db: Database;
  /** How long the acquirer may take to return the money of a lost dispute. */
  returnWindowMs: number;
  wakeOutbox(): void;
  wakeReturns(): void;
};

/** What is asked for, and by whom. */
type AskedResolution = ResolveSuspenseRequest & { operatorId: OperatorId };

export type Resolved = {
  resolution: Resolution;
  /** The same was asked for before. */
  repeated: boolean;
};

/**
 * An operator ends an item of suspense (decision 141), for exactly what has not gone back of it: `accept` gives it to
 * its owner, or to the account named where it has none; `return` sends it back to its payer. The first one stands.
 *
 * @throws AppError `NOT_FOUND`; `VALIDATION_ERROR` with `account_id`; `CONFLICT` where another action came first, a
 *   return of it could not be booked, or what is to be accepted is disputed
 */
export async function resolveSuspense(
  deps: ResolveSuspenseDeps,
  itemId: string,
  request: AskedResolution,
): Promise<Resolved> {
  const resolved = await deps.db.transaction(async (tx) => {
    return await resolve(tx, { itemId, request, returnWindowMs: deps.returnWindowMs });
  });
  if (resolved.repeated) return resolved;
  if (request.action === 'return') deps.wakeReturns();
  else deps.wakeOutbox();
  return resolved;
}

async function resolve(
  tx: Transaction,
  {
    itemId,
    request,
    returnWindowMs,
  }: { itemId: string; request: AskedResolution; returnWindowMs: number },
): Promise<Resolved> {
  const locked = await findItem(tx, itemId, request.item.end_to_end_id);
  const { item, left: amount } = locked;
  const accountId = recipientOf(item, request);
  const { action, operatorId: requestedBy } = request;
  const existing = await lockResolution(tx, itemId);
  if (existing !== null) {
    const isSame = existing.action === action && existing.accountId === accountId;
    if (!isSame) throw explained('CONFLICT', 'It is resolved in another way.');
    return { resolution: existing, repeated: true };
  }
  if (locked.hasUnbooked) throw explained('CONFLICT', 'A return of it could not be booked.');
  if (action === 'accept' && (await isStillDisputed(tx, item.endToEndId, returnWindowMs))) {
    throw new AppError('CONFLICT', { publicMessage: DISPUTED });
  }
  const end = accountId === null ? null : acceptCommands(locked, accountId);
  const fresh = { item, amount, action, accountId, requestedBy, end };
  const resolution = await insertResolution(tx, fresh);
  if (resolution === null) throw new Error('an item was resolved although it is locked');
  return { resolution, repeated: false };
}

/** The item as this service recorded it: what the caller saw of it proves nothing. */
async function findItem(
  tx: Transaction,
  id: string,
  endToEndId: string | null,
): Promise<LockedItem> {
  const locked = endToEndId === null ? null : await lockItem(tx, endToEndId);
  if (locked?.item.id !== id) throw new AppError('NOT_FOUND');
  return locked;
}

/** Who gets the money of an `accept`; null for a return. */
function recipientOf(item: SuspenseItem, request: ResolveSuspenseRequest): AccountId | null {
  const { action, account_id: named } = request;
  const isForeign = named !== null && named !== item.ownerId;
  const owner = named ?? item.ownerId;
  if (action === 'return' ? isForeign : owner === null || (item.ownerId !== null && isForeign)) {
    throw invalidRequest({ name: 'account_id', expected: 'the account that the money is for' });
  }
  return action === 'return' ? null : owner;
}
