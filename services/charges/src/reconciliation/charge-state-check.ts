import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { TOPICS } from '@pixmesh/contracts/topics';
import { toAcquirerId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { Check } from '@pixmesh/reconciliation/check';
import { comparePages, createResources } from '@pixmesh/reconciliation/resources';

import {
  type ComparedCharge,
  findComparedCharges,
  findProcessingCharges,
  listComparedCharges,
} from './charge-state-check.sql.ts';
import { compareChargeState } from './compare-charge-state.ts';
import { createCompareEach } from './compare-each.ts';

/** The acquirer has no list of charges here: each is asked for by itself, a few at once. */
const CHARGES_PER_PAGE = 100;
/** Charges in `processing` that an incremental run asks the acquirer for. */
const PROCESSING_MAX = 200;

export type ChargeStateCheckDeps = { db: Database; acquirer: Pick<Acquirer, 'getCharge'> };

/**
 * Every issued charge stands at the acquirer under its txid, with its amount, and in a state that goes with ours; one
 * that is being issued need not be there, but not with another amount either: it is never adopted then. Left: the
 * acquirer; right: our charges. Money under a txid that we do not know shows in `received`. A charge whose answer
 * cannot be read, or does not come, hides no other.
 */
export function chargeStateCheck(deps: ChargeStateCheckDeps): Check {
  const chargesIn = createResources<ComparedCharge>({
    db: deps.db,
    topic: TOPICS.chargesEvents,
    pageSize: CHARGES_PER_PAGE,
    read: (page) => listComparedCharges(deps.db, page),
    find: (ids) => findComparedCharges(deps.db, ids),
    // A charge that is being issued has no event yet.
    touchedSince: () => findProcessingCharges(deps.db, PROCESSING_MAX),
  });
  return {
    name: 'charge_state',
    run: async (scope) => {
      const compareEach = createCompareEach(scope.signal);
      return await comparePages(chargesIn(scope), scope, (charges) =>
        compareEach(
          charges,
          ({ id }) => deps.acquirer.getCharge(toAcquirerId(id)),
          compareChargeState,
        ),
      );
    },
  };
}
