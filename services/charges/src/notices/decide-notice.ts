import type { Lookup, PixReturn, ReceivedPix } from '@pixmesh/acquirer/acquirer';
import { isPaidTo } from '@pixmesh/acquirer/is-paid-to';
import type { Cents } from '@pixmesh/kernel/money';

import type { ChargeRow } from '#charge/charge-row.ts';
import type { RecordedReceived } from '#received/received-pix.sql.ts';
import { returnKey } from '#returns/return-key.ts';

export type NoticeStep =
  /** Nothing definite: check again. */
  | { kind: 'repeat' }
  /** It is recorded, and that is all there is to know. */
  | { kind: 'keep' }
  /** No effect whatsoever. */
  | { kind: 'ignore'; outcome: 'not_found' | 'foreign_key' }
  /** The Pix names a charge of ours. */
  | { kind: 'check_charge'; charge: ChargeRow; pix: ReceivedPix }
  /** It is ours, and in suspense, or of no charge. */
  | { kind: 'suspend'; pix: ReceivedPix };

type Ours = {
  /** The charge that the Pix names, if it is ours. */
  charge: ChargeRow | null;
  /** The Pix as recorded, in suspense. */
  recorded: RecordedReceived | null;
  pixKey: string;
};

/** What a check of an announced Pix means (decision 217). The acquirer alone says that it exists and is ours. */
export function decideNotice(found: Lookup<ReceivedPix>, ours: Ours): NoticeStep {
  if (found.kind === 'unknown') return { kind: 'repeat' };
  // What is recorded was there: an acquirer that has lost it proves nothing about its money.
  if (found.kind === 'not_found') {
    return ours.recorded === null ? { kind: 'ignore', outcome: 'not_found' } : { kind: 'keep' };
  }
  const pix = found.value;
  if (!isPaidTo(pix, ours.pixKey)) return { kind: 'ignore', outcome: 'foreign_key' };
  if (ours.recorded === null && ours.charge !== null) {
    return { kind: 'check_charge', charge: ours.charge, pix };
  }
  return { kind: 'suspend', pix };
}

/** The returns of a Pix in suspense that were carried out and are not recorded yet. */
export function decideSuspendedReturns(
  pix: ReceivedPix,
  booked: ReadonlyMap<string, Cents>,
): PixReturn[] {
  return pix.returns.filter(
    ({ id, status }) => status === 'returned' && !booked.has(returnKey(pix.endToEndId, id)),
  );
}
