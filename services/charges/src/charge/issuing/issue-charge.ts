import { wasNeverSent } from '@pixmesh/acquirer/never-sent';
import { toAcquirerId } from '@pixmesh/kernel/ids';
import { assertNever } from '@pixmesh/kernel/app-error';

import type { ChargeRow } from '#charge/charge-row.ts';
import { recordRefusal, uncountCall } from '#charge/charges.sql.ts';
import { failpoint } from '#failpoints.ts';

import { refusalCounts } from './decide-issuing.ts';
import type { IssuingDeps } from './issuing-deps.ts';
import { chooseBrCode } from './choose-br-code.ts';
import { finishFailed, finishIssued } from './finish-issuing.ts';

/**
 * Asks the acquirer to issue a charge whose call has been counted already, and applies the answer. Answers the
 * charge as it stands: still `processing` where the outcome is unknown or a refusal does not count yet. A call that
 * provably never left is taken off the count: nothing can come of it, so no refusal has to wait for it.
 *
 * @param lastCallAt of the call before this one
 */
export async function issueCharge(
  deps: IssuingDeps,
  charge: ChargeRow,
  { expiresInSeconds, lastCallAt }: { expiresInSeconds: number; lastCallAt: Date | null },
): Promise<ChargeRow> {
  const outcome = await deps.acquirer.issueCharge({
    txid: toAcquirerId(charge.id),
    amountCents: charge.amount,
    expiresInSeconds,
    debtor: { name: charge.customer?.name ?? '', document: charge.customer?.document ?? '' },
    description: charge.description,
  });
  await failpoint('charges.create.after-answer');
  switch (outcome.kind) {
    case 'issued': {
      const brCode = chooseBrCode(outcome.charge, deps.receiver);
      // Without a usable code, or with another amount, nothing is announced; a status check decides.
      if (brCode === null || outcome.charge.amountCents !== charge.amount) return charge;
      const { location } = outcome.charge;
      return await finishIssued(deps, charge, { brCode, location, checkAgainNow: false });
    }
    case 'refused': {
      const reason = `${outcome.code}: ${outcome.message}`;
      if (refusalCounts(charge)) return await finishFailed(deps, charge, { reason });
      await recordRefusal(deps.db, charge, reason);
      return charge;
    }
    case 'unknown':
      deps.logger.warn({ charge_id: charge.id, cause: outcome.cause }, 'issuing outcome unknown');
      return wasNeverSent(outcome) ? await uncountCall(deps.db, charge, lastCallAt) : charge;
    default:
      return assertNever(outcome);
  }
}
