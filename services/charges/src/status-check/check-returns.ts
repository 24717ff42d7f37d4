import type { Acquirer, ReceivedPix } from '@pixmesh/acquirer/acquirer';
import { toAcquirerId } from '@pixmesh/kernel/ids';

import type { ChargeRow } from '#charge/charge-row.ts';

import {
  applyProviderState,
  type ApplyStateDeps,
  type StateApplied,
} from './apply-provider-state.ts';

type CheckReturnsDeps = ApplyStateDeps & { acquirer: Pick<Acquirer, 'getReceived'> };

/**
 * Asks the acquirer for one Pix of a charge, whose dispute was lost, and applies its returns; nothing while the charge
 * is not credited. False where the answer is unknown, a return is under way, or not all of it could be applied: a later
 * check, of the charge or of its returns, does.
 */
export async function checkReturns(
  deps: CheckReturnsDeps,
  charge: ChargeRow,
  endToEndId: string,
): Promise<boolean> {
  if (charge.endToEndId !== endToEndId) return true;
  const found = await deps.acquirer.getReceived(endToEndId, {
    accountId: charge.accountId,
  });
  if (found.kind !== 'found') return false;
  const applied = await applyPix(deps, charge, { pix: found.value, knownDisputed: [endToEndId] });
  return areAllApplied(applied) && applied !== 'routine';
}

/**
 * Applies the returns of one Pix that is recorded for a charge, whether or not the acquirer shows it with the charge.
 * False where not all of them could be applied. One that is under way is not waited for: the list shows it once it is
 * carried out.
 */
export async function applyReturns(
  deps: ApplyStateDeps,
  charge: ChargeRow,
  pix: ReceivedPix,
): Promise<boolean> {
  return areAllApplied(await applyPix(deps, charge, { pix, knownDisputed: [] }));
}

async function applyPix(
  deps: ApplyStateDeps,
  charge: ChargeRow,
  { pix, knownDisputed }: { pix: ReceivedPix; knownDisputed: readonly string[] },
): Promise<StateApplied> {
  const txid = toAcquirerId(charge.id);
  const received = [{ ...pix, txid }];
  return await applyProviderState(deps, charge, {
    txid,
    status: 'settled',
    received,
    knownDisputed,
  });
}

function areAllApplied(applied: StateApplied): boolean {
  return applied !== 'moved' && applied !== 'soon';
}
