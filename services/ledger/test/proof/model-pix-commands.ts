import type { OracleCommand } from '#test/oracle-books.ts';

import { AMOUNTS } from './model-hold-commands.ts';
import type { SeededRandom } from './seeded-random.ts';

/** How far back a refund, dispute or return reaches: few Pix, so that these meet on one. */
const MEMORY = 12;
/** Of a Pix that nobody was credited, or somebody else. */
const UNKNOWN_RATE = 0.04;
const LATE_END_RATE = 0.3;

type Pix = { accountId: string; subject: string; amount: number };
type Dispute = Pix & { dispute: string };

/** Commands about credited Pix: what is refunded, disputed and returned of them. */
export function createPixCommands(random: SeededRandom) {
  const credited: Pix[] = [];
  const disputes: Dispute[] = [];
  return {
    recordCredited,
    aRefund,
    fresh: { disputeBlock, disputeUnblock, disputeReturn, receivedPixReturn },
  };

  function recordCredited(pix: Pix): void {
    credited.push(pix);
  }

  function aRefund(accountId: string): { pix: string; amount: number } {
    const pix = aPix(accountId);
    return { pix: pix.subject, amount: aPart(pix) };
  }

  function disputeBlock(accountId: string): OracleCommand {
    const pix = aPix(accountId);
    const dispute = { ...pix, dispute: random.id(), amount: aPart(pix) };
    disputes.push(dispute);
    return { ...dispute, id: random.id(), kind: 'dispute.block' };
  }

  /** A dispute is ended once; now and then one that was never opened. */
  function disputeUnblock(accountId: string): OracleCommand {
    const known = random.chance(1 - UNKNOWN_RATE) ? disputes.shift() : undefined;
    // A dispute whose end is sent again, as another command, has nothing left.
    if (known && random.chance(LATE_END_RATE)) disputes.push(known);
    const dispute = known ?? { ...aPix(accountId), dispute: random.id() };
    return { ...dispute, id: random.id(), kind: 'dispute.unblock' };
  }

  function disputeReturn(accountId: string): OracleCommand {
    const from = random.pick(['blocked', 'blocked', 'available'] as const);
    const known = disputes.length > 0 ? random.pick(disputes.slice(-MEMORY)) : undefined;
    const dispute = known ?? { ...aPix(accountId), dispute: random.id() };
    return { ...dispute, id: random.id(), kind: 'dispute.return', from, amount: aPart(dispute) };
  }

  function receivedPixReturn(accountId: string): OracleCommand {
    const pix = aPix(accountId);
    return { ...pix, id: random.id(), kind: 'received_pix.return', amount: aPart(pix) };
  }

  function aPix(accountId: string): Pix {
    const last = credited.filter((pix) => pix.accountId === accountId).slice(-MEMORY);
    if (last.length > 0 && !random.chance(UNKNOWN_RATE)) return random.pick(last);
    const strange = random.chance(0.5) ? credited.at(-1)?.subject : undefined;
    return { accountId, subject: strange ?? random.id(), amount: random.pick(AMOUNTS) };
  }

  /** All of it, a part that fits a few times, or anything. */
  function aPart({ amount }: Pix): number {
    const draw = random.fraction();
    if (draw < 0.35) return amount;
    if (draw < 0.8) return Math.max(1, Math.floor(amount / random.pick([2, 3, 5])));
    return random.pick(AMOUNTS);
  }
}
