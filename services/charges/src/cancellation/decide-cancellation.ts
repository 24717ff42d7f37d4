import type { ChargeRow } from '#charge/charge-row.ts';
import { mayMove } from '#charge/transitions.ts';

/** `done`: an earlier call has brought about what is wanted. */
type CancellationDecision = 'act' | 'done' | 'refuse';

/** Only what waits for its Pix is canceled, also past its time, and never once a Pix is accepted (decision 75). */
export function decideCancellation(
  charge: Pick<ChargeRow, 'status' | 'acceptedE2e'>,
): CancellationDecision {
  if (charge.status === 'canceled') return 'done';
  return mayMove(charge, 'canceled') ? 'act' : 'refuse';
}
