import { cutFailureReason } from '@pixmesh/kernel/text';

import { failpoint } from '#failpoints.ts';
import {
  type FollowDeps,
  followOrder,
  type LeasedOrder,
  type OrderKind,
} from '#returns/follow-order.ts';

import { type EndSuspendedDeps, endSuspended } from './end-suspended.ts';
import { failReturn, type Resolution, returnItemOrders } from './resolutions.sql.ts';

export type ReturnItemDeps = EndSuspendedDeps & FollowDeps;

/**
 * One status check of the leased return of an item in suspense: it is followed at the acquirer, under its own id. A
 * lost answer leads to no second order (`placeOrder`).
 */
export async function followItemReturn(
  deps: ReturnItemDeps,
  leased: LeasedOrder<Resolution>,
): Promise<void> {
  const { isOrdered, status } = leased.row;
  if (isOrdered || status !== 'processing') {
    return await returnItemOrders.release(deps.db, leased.row, null);
  }
  await followOrder(deps, kindOf(deps), leased);
}

function kindOf({ db, logger, ...deps }: ReturnItemDeps): OrderKind<Resolution> {
  return {
    orders: returnItemOrders,
    failpoint: (name) => failpoint(`charges.suspense.${name}`),
    answered: (resolution, answer) => {
      if (answer.kind !== 'unknown') return;
      const fields = { ...describe(resolution), cause: answer.cause };
      logger.warn(fields, 'item return: call outcome unknown');
    },
    reportProblem: (resolution, problem) => {
      const fields = { ...describe(resolution), problem };
      logger.error(fields, 'item return differs from its order');
    },
    end: async (resolution, returned) => {
      await endSuspended({ db, logger, ...deps }, resolution, returned);
      await returnItemOrders.release(db, resolution, null);
    },
    fail: async (resolution, text) => {
      const reason = cutFailureReason(text);
      if (!(await failReturn(db, resolution, reason))) return;
      logger.error(describe(resolution), 'item return failed');
    },
  };
}

function describe({ id, itemId }: Resolution) {
  return { resolution_id: id, item_id: itemId };
}
