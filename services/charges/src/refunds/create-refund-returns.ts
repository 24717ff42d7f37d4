import type { RefundReturns } from '#refunds/refund-returns.ts';

import { endRefund, type EndRefundDeps } from './end-refund.ts';
import { findOwnRefunds } from './refunds.sql.ts';

/** What a look at a charge asks of refunds. */
export function createRefundReturns(deps: EndRefundDeps): RefundReturns {
  return {
    findOwn: (returnIds) => findOwnRefunds(deps.db, returnIds),
    end: (charge, seen) => endRefund(deps, charge, seen),
  };
}
