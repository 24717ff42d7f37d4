import type { Acquirer } from '@pixmesh/acquirer/client';
import { toAcquirerId } from '@pixmesh/kernel/ids';

import type { ChargeRow } from '#charge/charge-row.ts';

import { applyTruth, type ApplyTruthDeps, type Truth } from './apply-provider-state.ts';

type ReadReturnsDeps = ApplyTruthDeps & { acquirer: Pick<Acquirer, 'getReceived'> };

/**
 * Reads one Pix of a charge at the acquirer and applies its returns; nothing while the charge is not credited. False
 * where the acquirer did not say, or not all of it could be applied: a look, or the next of these, finds them.
 */
export async function readReturns(
  deps: ReadReturnsDeps,
  charge: ChargeRow,
  endToEndId: string,
): Promise<boolean> {
  if (charge.endToEndId !== endToEndId) return true;
  const found = await deps.acquirer.getReceived(endToEndId);
  if (found.kind !== 'found') return false;
  const txid = toAcquirerId(charge.id);
  const truth: Truth = { txid, status: 'settled', received: [{ ...found.value, txid }] };
  const applied = await applyTruth(deps, charge, truth);
  return applied !== 'moved' && applied !== 'soon';
}
