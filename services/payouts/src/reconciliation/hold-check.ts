import type { HoldItem } from '@pixmesh/contracts/internal/holds';
import type { Database } from '@pixmesh/postgres/pool';
import type { Check, FoundBreak } from '@pixmesh/reconciliation/check';
import type { LedgerReads } from '@pixmesh/ledger-client/ledger-reads';

import { type ComparedPayout, findPayoutsByHold, openPayouts } from './compared-payouts.sql.ts';

export type HoldCheckDeps = { db: Database; ledger: Pick<LedgerReads, 'listOpenHolds'> };

const EXPECTED = 'pending or processing';

/**
 * Every open hold of a payout has its payout on the way, and every payout on the way has its open hold of amount and
 * fee (I7). Left: the ledger's open holds; right: our payouts. Every run reads both lists whole, in pages. The holds
 * are read first: a payout that ends in between shows for one run and is inside its window then.
 */
export function holdCheck(deps: HoldCheckDeps): Check {
  return {
    name: 'hold',
    run: async () => {
      const holds = await deps.ledger.listOpenHolds('payout');
      const byHold = new Map<string, ComparedPayout>();
      for await (const page of openPayouts(deps.db)) {
        for (const payout of page) byHold.set(payout.holdId, payout);
      }
      const open = [...byHold.values()];
      const others = await findPayoutsByHold(
        deps.db,
        [...holds.keys()].filter((id) => !byHold.has(id)),
      );
      for (const payout of others) byHold.set(payout.holdId, payout);
      const breaks = [
        ...[...holds.values()].flatMap((hold) =>
          compareHold(hold, byHold.get(hold.hold_id) ?? null),
        ),
        ...open.filter(({ holdId }) => !holds.has(holdId)).map(missingHold),
      ];
      return { compared: new Set([...holds.keys(), ...byHold.keys()]).size, breaks };
    },
  };
}

/** The differences of one open hold; an intent that keeps its hold for longer than the window is one. */
function compareHold(hold: HoldItem, payout: ComparedPayout | null): FoundBreak[] {
  const amountCents = hold.amount + hold.fee;
  if (payout === null) {
    const found = hold.resource_id;
    return [{ kind: 'missing_right', id: hold.hold_id, expected: EXPECTED, found, amountCents }];
  }
  const breaks: FoundBreak[] = [];
  const id = payout.id;
  if (payout.status !== 'pending' && payout.status !== 'processing') {
    breaks.push({ kind: 'state', id, expected: EXPECTED, found: payout.status, amountCents });
  }
  if (hold.amount !== payout.amount || hold.fee !== payout.fee) {
    const [expected, found] = [`${payout.amount} + ${payout.fee}`, `${hold.amount} + ${hold.fee}`];
    const off = amountCents - payout.amount - payout.fee;
    const { accountId } = payout;
    breaks.push({ kind: 'amount', id, accountId, expected, found, amountCents: off });
  }
  return breaks;
}

/** A hold that was ordered to end may have ended: its outcome is on its way then, however long that takes. */
function missingHold(payout: ComparedPayout): FoundBreak {
  const { id, status, amount, fee, isEnding } = payout;
  return {
    kind: 'missing_left',
    id,
    accountId: isEnding ? null : payout.accountId,
    expected: 'an open hold',
    found: status,
    amountCents: amount + fee,
  };
}
