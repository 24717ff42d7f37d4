import type { Acquirer } from '@pixmesh/acquirer/client';
import { assertNever } from '@pixmesh/kernel/app-error';
import { toAcquirerId } from '@pixmesh/kernel/ids';

import type { ChargeRow } from '#charges/charge-row.ts';
import { REMOVED_BY_ACQUIRER } from '#issuing/decide-issuing.ts';
import type { Issuing } from '#issuing/issuing.ts';
import type { IssuingDeps } from '#issuing/issuing-deps.ts';
import { settleFailed } from '#issuing/settle-issuing.ts';
import { recordReceived } from '#payment/record-received.ts';

import { nextCheckMs } from '@pixmesh/kernel/check-schedule';
import { releaseCharge } from './read-back.sql.ts';

/**
 * One look at the acquirer for a leased charge: finishes its issuing, records what was received for it, or
 * notes its removal; then says when to look next. A callback only ever leads here (decisions 211–213).
 */
export async function lookAtCharge(
  deps: IssuingDeps & { issuing: Issuing; acquirer: Acquirer },
  charge: ChargeRow,
): Promise<void> {
  if (charge.status === 'processing') {
    await deps.issuing.lookAt(charge);
    return;
  }
  const found = await deps.acquirer.getCharge(toAcquirerId(charge.id));
  switch (found.kind) {
    case 'unknown':
      // Looked for again soon even where no routine look is due: somebody may have asked for this one.
      return await releaseCharge(
        deps.db,
        charge,
        nextCheckMs(charge.checks, deps.processingChecks),
      );
    case 'not_found':
      deps.logger.error({ charge_id: charge.id }, 'the acquirer does not know an issued charge');
      break;
    case 'found':
      await recordReceived(deps, charge, found.value.received);
      if (found.value.status === 'removed_by_psp' && charge.status === 'pending') {
        if (found.value.received.length === 0)
          await settleFailed(deps, charge, REMOVED_BY_ACQUIRER);
      }
      break;
    default:
      assertNever(found);
  }
  const isOpen = charge.status === 'pending';
  await releaseCharge(
    deps.db,
    charge,
    isOpen ? nextCheckMs(charge.checks, deps.pendingChecks) : null,
  );
}
