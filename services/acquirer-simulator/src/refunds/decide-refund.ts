import type { SettleRule } from '#faults/fault-script.ts';
import type { Profile } from '#profile/profile.ts';

import { leftOf, type PixReturn, type ReturnStatus } from '#pix/return-resource.ts';

/** What is known of a Pix when its receiver orders a return. */
export type RefundFacts = {
  pix: { amountCents: bigint; returns: readonly PixReturn[] };
  /** Whether the Pix settled more than 90 days ago. */
  isTooOld: boolean;
};

export type RefundDecision = 'accept' | 'duplicate' | 'amount_zero' | 'too_old' | 'exceeds';

/** A taken id is a duplicate before it is anything else: a refusal would deny a return that exists. */
export function decideRefund(
  facts: RefundFacts,
  order: { id: string; amountCents: bigint },
): RefundDecision {
  const { pix } = facts;
  if (pix.returns.some(({ id }) => id === order.id)) return 'duplicate';
  if (order.amountCents === 0n) return 'amount_zero';
  if (facts.isTooOld) return 'too_old';
  return order.amountCents > leftOf(pix) ? 'exceeds' : 'accept';
}

/** What is to become of a refund that was accepted. */
export type RefundPlan = {
  status: Exclude<ReturnStatus, 'EM_PROCESSAMENTO'>;
  reason: string | null;
  /** Null: it never ends, until the fault script changes. */
  endsInMs: number | null;
};

/** From the answer to the end of a refund that nothing disturbs; with the job's tick it stays below 200 ms. */
export const REFUND_DELAY_MS = 50;

const REASON_DEFAULT = 'AC04: Conta transacional do usuário recebedor encerrada';
/** Limit of `motivo` (API Pix). */
const REASON_LENGTH_MAX = 140;

/** Profile `efi`: a refund of so many cents is accepted and then rejected. */
const REJECTED_CENTS = 1n;

type RefundOrder = { profile: Profile; amountCents: bigint };

/** Plans an accepted refund: it is done, unless the fault script or the profile says otherwise. */
export function planRefund(
  fault: { latencyMs: number; rule: SettleRule | null },
  { profile, amountCents }: RefundOrder,
): RefundPlan {
  const { rule } = fault;
  const endsInMs = REFUND_DELAY_MS + fault.latencyMs + (rule?.delay_ms ?? 0);
  if (rule?.fault === 'hang') return { status: 'DEVOLVIDO', reason: null, endsInMs: null };
  if (rule?.fault === 'refusal')
    return { status: 'NAO_REALIZADO', reason: reasonOf(rule), endsInMs };
  if (profile === 'efi' && amountCents === REJECTED_CENTS)
    return { status: 'NAO_REALIZADO', reason: REASON_DEFAULT, endsInMs };
  return { status: 'DEVOLVIDO', reason: null, endsInMs };
}

function reasonOf({ code, message }: SettleRule): string {
  const words = [code, message].filter((word) => word !== undefined);
  const text = words.length === 0 ? REASON_DEFAULT : words.join(': ');
  return text.slice(0, REASON_LENGTH_MAX);
}
