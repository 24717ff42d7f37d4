import type { Acquirer, PixReturn } from '@pixmesh/acquirer/acquirer';
import type { DisputeId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';

import { attributeReturns, type DisputeFacts } from './attribute-returns.ts';
import { findDisputesOfPix, type PixDispute } from './return-facts.sql.ts';

/** Pages of the acquirer's list that are read for one return. */
const PAGES_MAX = 100;

export type DisputeOfReturnDeps = { db: Queryable; acquirer: Pick<Acquirer, 'listDisputes'> };

/**
 * The dispute that a return under the MED belongs to: its id, null where none is recorded. Of several, one of which
 * blocks money, the acquirer is asked which it has decided, because the return may be seen before the decision is, and
 * the loss of one must not use up the block of another. `unknown`: it did not answer.
 */
export async function findDisputeOfReturn(
  deps: DisputeOfReturnDeps,
  { endToEndId, returned }: { endToEndId: string; returned: PixReturn },
): Promise<DisputeId | null | 'unknown'> {
  const { disputes, returns } = await findDisputesOfPix(deps.db, endToEndId);
  const [only] = disputes;
  if (only === undefined || disputes.length === 1) return only?.id ?? null;
  const isBlocked = disputes.some(({ block }) => block === 'standing');
  const facts = isBlocked ? await askAcquirer(deps, disputes) : disputes;
  if (facts === 'unknown') return 'unknown';
  const { id: returnId, amountCents: amount, settledAt } = returned;
  const before = attributeReturns(facts, returns);
  const after = attributeReturns(facts, [...returns, { returnId, amount, settledAt }]);
  return disputes.find(({ infractionId: id }) => after.get(id) !== before.get(id))?.id ?? null;
}

/** The disputes with the acquirer's decisions of now; one that its list does not show stays as it is recorded. */
async function askAcquirer(
  { acquirer }: DisputeOfReturnDeps,
  disputes: readonly PixDispute[],
): Promise<DisputeFacts[] | 'unknown'> {
  const facts = new Map<string, DisputeFacts>(disputes.map((one) => [one.infractionId, one]));
  const openedMs = disputes.map(({ openedAt }) => openedAt.getTime());
  const window = { from: new Date(Math.min(...openedMs)), to: new Date(Math.max(...openedMs)) };
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const listed = await acquirer.listDisputes({ ...window, page });
    if (listed.kind === 'unknown') return 'unknown';
    for (const { id, status, decidedAt } of listed.items) {
      const one = facts.get(id);
      if (one) facts.set(id, { ...one, acceptedAt: status === 'accepted' ? decidedAt : null });
    }
    if (!listed.hasMore) return [...facts.values()];
  }
  return 'unknown';
}
