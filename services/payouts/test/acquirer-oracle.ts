import type { Acquirer, AcquirerPayout, SendOutcome } from '@pixmesh/acquirer/acquirer';
import { toCents } from '@pixmesh/kernel/money';

import { DUE_AMOUNT } from './store-due-payouts.ts';

/** What becomes of one call: its effect and its answer are two things. */
export type CallFate =
  | 'accept'
  | 'refuse'
  | 'lose_call'
  | 'lose_answer'
  | 'effect_later'
  | 'never_sent';

export type AcquirerOracle = ReturnType<typeof createAcquirerOracle>;

/** An acquirer in memory that knows one order, for models that need to say when an effect happens. */
export function createAcquirerOracle() {
  let order: AcquirerPayout | null = null;
  let callsUnderWay = 0;
  let refusals = 0;
  const endToEndId = `E${String(Math.random()).slice(2).padEnd(31, '0').slice(0, 31)}`;
  return {
    order: () => order,
    refusals: () => refusals,
    call,
    read: (): Awaited<ReturnType<Acquirer['getPayout']>> =>
      order === null ? { kind: 'not_found' } : { kind: 'found', value: { ...order } },
    /** A call that everybody has given up takes effect after all. */
    landLateCall: () => {
      if (callsUnderWay === 0) return;
      callsUnderWay -= 1;
      place();
    },
    /** So much time goes by that no call can be under way any more. */
    forgetCalls: () => {
      callsUnderWay = 0;
    },
    end: (status: 'settled' | 'rejected') => {
      if (order?.status !== 'processing') return;
      order = { ...order, status, reason: status === 'rejected' ? 'AC03: rejected' : null };
    },
  };

  function call(fate: CallFate): SendOutcome {
    const lost = { kind: 'unknown', cause: 'timeout' } as const;
    if (fate === 'never_sent') return { kind: 'unknown', cause: 'breaker_open' };
    if (fate === 'lose_call') return lost;
    if (fate === 'effect_later') {
      callsUnderWay += 1;
      return lost;
    }
    if (order !== null) return { kind: 'unknown', cause: 'status_409' };
    if (fate === 'refuse') {
      refusals += 1;
      return { kind: 'refused', code: 'pagamento_negado', message: 'no' };
    }
    const placed = place();
    return fate === 'lose_answer' ? lost : { kind: 'accepted', payout: { ...placed } };
  }

  function place(): AcquirerPayout {
    order ??= {
      idEnvio: null,
      endToEndId,
      status: 'processing',
      amountCents: toCents(DUE_AMOUNT),
      reason: null,
      requestedAt: new Date(),
      settledAt: null,
      returns: [],
    };
    return order;
  }
}
