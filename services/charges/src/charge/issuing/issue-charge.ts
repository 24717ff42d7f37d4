import type { Counted, OrderAnswer, OrderStep } from '@pixmesh/acquirer-orders/order-calls';
import { placeOrder } from '@pixmesh/acquirer-orders/place-order';
import type { AcquirerCharge } from '@pixmesh/acquirer/acquirer';
import { assertNever } from '@pixmesh/kernel/app-error';
import { toAcquirerId } from '@pixmesh/kernel/ids';

import type { ChargeRow } from '#charge/charge-row.ts';
import { recordCallError, recordRefusal, uncountCall } from '#charge/charges.sql.ts';
import { failpoint } from '#failpoints.ts';

import { chooseBrCode } from './choose-br-code.ts';
import { finishFailed, finishIssued } from './finish-issuing.ts';
import type { IssuingDeps } from './issuing-deps.ts';

/** One call that issues a charge, as `@pixmesh/acquirer-orders/place-order` makes it. */
export type IssuingCall = {
  count(): Promise<Counted<ChargeRow> | null>;
  expiresInSeconds: number;
  callBeforeMs: number;
};

/**
 * Asks the acquirer to issue a charge, and applies the answer. Returns the charge as it stands: still `processing`
 * where the outcome is unknown or a refusal does not count yet.
 */
export async function issueCharge(
  deps: IssuingDeps,
  charge: ChargeRow,
  { count, callBeforeMs, expiresInSeconds }: IssuingCall,
): Promise<ChargeRow> {
  const placed = await placeOrder<ChargeRow, AcquirerCharge>({
    count,
    callBeforeMs,
    call: (counted) => call(deps, counted, { expiresInSeconds, callBeforeMs }),
    answered: ({ id }, answer) => {
      if (answer.kind !== 'unknown') return;
      deps.logger.warn({ charge_id: id, cause: answer.cause }, 'issuing outcome unknown');
    },
    failpoint: async (name) => {
      if (name === 'after-answer') await failpoint('charges.create.after-answer');
    },
  });
  return placed === null ? charge : await applyStep(deps, placed.row, placed.step);
}

async function call(
  { acquirer }: IssuingDeps,
  charge: ChargeRow,
  { expiresInSeconds, callBeforeMs }: Omit<IssuingCall, 'count'>,
): Promise<OrderAnswer<AcquirerCharge>> {
  const outcome = await acquirer.issueCharge(
    {
      txid: toAcquirerId(charge.id),
      amountCents: charge.amount,
      expiresInSeconds,
      debtor: { name: charge.customer?.name ?? '', document: charge.customer?.document ?? '' },
      description: charge.description,
    },
    { accountId: charge.accountId, beginBeforeMs: callBeforeMs },
  );
  return outcome.kind === 'issued' ? { kind: 'accepted', value: outcome.charge } : outcome;
}

async function applyStep(
  deps: IssuingDeps,
  charge: ChargeRow,
  step: OrderStep<AcquirerCharge>,
): Promise<ChargeRow> {
  switch (step.kind) {
    case 'accepted': {
      const { amountCents } = step.value;
      const brCode = chooseBrCode(step.value, deps.receiver);
      // Without a usable code, or with another amount, nothing is announced; a status check decides.
      if (brCode === null || amountCents !== charge.amount) return charge;
      return await finishIssued(deps, charge, { brCode, checkAgainNow: false });
    }
    case 'fail': {
      const { unansweredCalls } = charge;
      const after = await finishFailed(deps, charge, { reason: step.reason, unansweredCalls });
      // Another call was counted meanwhile: the refusal counts later, as one that came after it.
      if (after.status === 'processing') await recordRefusal(deps.db, after, step.reason);
      return after;
    }
    case 'record_refusal':
      await recordRefusal(deps.db, charge, step.reason);
      return charge;
    case 'uncount':
      return await uncountCall(deps.db, charge, step);
    case 'check_later':
      return await recordCallError(deps.db, charge, step.error);
    default:
      return assertNever(step);
  }
}
