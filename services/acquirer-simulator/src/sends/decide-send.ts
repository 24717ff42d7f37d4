import type { SettleRule } from '#faults/fault-script.ts';
import type { Profile } from '#profile/profile.ts';

import type { SendError } from './send-resource.ts';

/** What is to become of an order that was accepted. */
export type SendPlan = {
  /** Null: it never settles, until the fault script changes. */
  settlesInMs: number | null;
  /** A rejection where set. */
  error: SendError | null;
  /** What the recipient sends back afterwards, in cents. */
  returns: readonly bigint[];
};

/** From the answer to the end of an order that nothing disturbs; with the job's tick it stays below 200 ms. */
export const SETTLE_DELAY_MS = 50;

/** Amounts of the provider's homologation, in cents. */
const COMPLETES_UP_TO = 1_000n;
const REJECTED_UP_TO = 2_000n;
const RETURNED_IN_TWO = 400n;
const RETURNED_AT_ONCE = 500n;

const REJECTION = {
  codigo: 'AC03',
  origem: 'PSP do usuário recebedor',
  motivo: 'Número da agência e/ou conta transacional do usuário recebedor inexistente ou inválido',
};

/** Whether the amount alone makes the provider refuse an order at once. */
export function isDenied(profile: Profile, amountCents: bigint): boolean {
  return profile === 'efi' && amountCents > REJECTED_UP_TO;
}

/** Plans an accepted order: the fault script decides before the amount does. */
export function planSend(
  profile: Profile,
  amountCents: bigint,
  fault: { latencyMs: number; rule: SettleRule | null },
): SendPlan {
  const { rule } = fault;
  const byAmount = profile === 'efi' ? planByAmount(amountCents) : { error: null, returns: [] };
  const settlesInMs = SETTLE_DELAY_MS + fault.latencyMs + (rule?.delay_ms ?? 0);
  if (rule === null) return { ...byAmount, settlesInMs };
  if (rule.fault === 'hang') return { ...byAmount, settlesInMs: null };
  return { settlesInMs, error: rejectionOf(rule), returns: [] };
}

/** A rejection with the given words over the default ones. */
export function rejectionOf(words: { code?: string | undefined; message?: string | undefined }) {
  return {
    ...REJECTION,
    ...(words.code !== undefined && { codigo: words.code, motivo: words.code }),
    ...(words.message !== undefined && { motivo: words.message }),
  };
}

function planByAmount(amountCents: bigint): Pick<SendPlan, 'error' | 'returns'> {
  if (amountCents > COMPLETES_UP_TO) return { error: REJECTION, returns: [] };
  if (amountCents === RETURNED_IN_TWO) return { error: null, returns: [200n, 200n] };
  if (amountCents === RETURNED_AT_ONCE) return { error: null, returns: [500n] };
  return { error: null, returns: [] };
}
