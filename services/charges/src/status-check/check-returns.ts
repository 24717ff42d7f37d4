import type { Acquirer, ReceivedPix } from '@pixmesh/acquirer/acquirer';
import { toAcquirerId } from '@pixmesh/kernel/ids';

import type { ChargeRow } from '#charge/charge-row.ts';

import {
  applyProviderState,
  type ApplyStateDeps,
  type StateApplied,
} from './apply-provider-state.ts';

type CheckReturnsDeps = ApplyStateDeps & { acquirer: Pick<Acquirer, 'getReceived'> };

/** `routine`: a return is under way. */
const NOT_YET_KNOWN: ReadonlySet<StateApplied> = new Set(['moved', 'soon', 'routine']);

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
  return (
    found.kind === 'found' &&
    (await applyReturns(deps, charge, { pix: found.value, isDisputed: true }))
  );
}

/**
 * Applies the returns of one Pix that is recorded for a charge, whether or not the acquirer shows it with the charge.
 * False where not all of them could be applied, or one is under way that is no refund of ours.
 */
export async function applyReturns(
  deps: ApplyStateDeps,
  charge: ChargeRow,
  { pix, isDisputed = false }: { pix: ReceivedPix; isDisputed?: boolean },
): Promise<boolean> {
  const txid = toAcquirerId(charge.id);
  const received = [{ ...pix, txid }];
  const knownDisputed = isDisputed ? [pix.endToEndId] : [];
  const state = { txid, status: 'settled', received, knownDisputed } as const;
  const applied = await applyProviderState(deps, charge, state);
  return !NOT_YET_KNOWN.has(applied);
}
