import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { foundOrNull } from '@pixmesh/acquirer/found-or-null';
import type { ResolveSuspenseRequest } from '@pixmesh/contracts/internal/suspense';
import { invalidRequest } from '@pixmesh/http/refusal';
import { AppError } from '@pixmesh/kernel/app-error';
import { type OperatorId, parseId, type PayoutId, toAcquirerId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';

import { suspenseResolve, suspenseItemId } from '#payouts/ledger-commands.ts';
import type { PayoutRow } from '#payouts/payout-row.ts';
import { findAnyPayout } from '#payouts/payouts.sql.ts';

import {
  findResolution,
  hasReturns,
  insertResolution,
  type Resolution,
} from './resolutions.sql.ts';

export type ResolveSuspenseDeps = {
  db: Database;
  acquirer: Pick<Acquirer, 'getPayout'>;
  wakeOutbox(): void;
};

/** What is asked for, and by whom. */
type AskedResolution = ResolveSuspenseRequest & { operatorId: OperatorId };

/** `repeated`: the same was asked for before. */
export type Resolved = { resolution: Resolution; repeated: boolean };

const NOT_RETURNABLE =
  'The acquirer can send back only what was received: money of a payout is accepted for its owner, never returned.';
const NOTHING_TO_ACCEPT =
  'The item is money that has left although its payout had failed: there is nothing to give to anybody.';
const NOT_CONFIRMED =
  'The acquirer does not confirm now that the money of the payout stayed: nothing is accepted while it does not.';
const CAME_BACK =
  'Money of the payout came back and is credited to its account: what the item is worth beside that is for finance and the acquirer to find out.';

/**
 * An operator accepts money that stayed although its payout had completed (decisions 120, 141): it becomes available to
 * the payout's account, once; the payout keeps its status. The acquirer's API returns received Pix only, so `return` is
 * refused; and money that has left cannot be accepted. The acquirer is asked anew before the command is stored: what it
 * has settled after all would be paid twice. So would money that came back of the payout and is credited; once the payout
 * is contradicted, no return of it is recorded any more.
 *
 * @throws AppError `NOT_FOUND`; `CONFLICT` for what cannot be done, with what is to be known; `VALIDATION_ERROR` with
 *   `account_id` where that is another account; `DEPENDENCY_UNAVAILABLE` while the acquirer does not answer
 */
export async function resolveSuspense(
  deps: ResolveSuspenseDeps,
  itemId: string,
  request: AskedResolution,
): Promise<Resolved> {
  const payout = await findContradicted(deps.db, itemId, request.item.payout_id);
  refuseImpossible(payout, request);
  const before = await findResolution(deps.db, itemId);
  if (before !== null) return { resolution: before, repeated: true };
  if (await hasReturns(deps.db, payout.id)) {
    throw new AppError('CONFLICT', { publicMessage: CAME_BACK });
  }
  await confirmStayed(deps, payout);
  const { operatorId: requestedBy } = request;
  const command = suspenseResolve(payout, itemId);
  const stored = await insertResolution(deps.db, { itemId, payout, requestedBy, command });
  if (stored !== null) {
    deps.wakeOutbox();
    return { resolution: stored, repeated: false };
  }
  const existing = await findResolution(deps.db, itemId);
  if (existing === null) throw new Error('a resolution that stood is gone');
  return { resolution: existing, repeated: true };
}

/** The payout as this service knows it: what the caller saw of its item proves nothing. */
async function findContradicted(
  db: Database,
  itemId: string,
  payoutId: string | null,
): Promise<PayoutRow> {
  const id = payoutId === null ? null : parseId<PayoutId>(payoutId);
  const payout = id === null ? null : await findAnyPayout(db, id);
  if (payout === null || suspenseItemId(payout) !== itemId) throw new AppError('NOT_FOUND');
  return payout;
}

function refuseImpossible(payout: PayoutRow, request: ResolveSuspenseRequest): void {
  const { action, account_id: named } = request;
  if (action === 'return') throw new AppError('CONFLICT', { publicMessage: NOT_RETURNABLE });
  if (payout.contradiction === 'completed_after_failed') {
    throw new AppError('CONFLICT', { publicMessage: NOTHING_TO_ACCEPT });
  }
  if (named !== null && named !== payout.accountId) {
    throw invalidRequest({ name: 'account_id', expected: 'the account of the payout' });
  }
}

/** An order that the acquirer never accepted may be unknown to it; one that it accepted has to be rejected there. */
async function confirmStayed(
  { acquirer }: ResolveSuspenseDeps,
  { id, accountId, processedAt }: PayoutRow,
): Promise<void> {
  const sent = foundOrNull(await acquirer.getPayout(toAcquirerId(id), { accountId }));
  const hasStayed = sent === null ? processedAt === null : sent.status === 'rejected';
  if (!hasStayed) throw new AppError('CONFLICT', { publicMessage: NOT_CONFIRMED });
}
