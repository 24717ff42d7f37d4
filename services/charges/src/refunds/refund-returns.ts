import type { PixReturn } from '@pixmesh/acquirer/client';

import type { ChargeRow } from '#charge/charge-row.ts';

/** What a look asks of refunds: which returns are theirs, and to take note of the end of one. */
export type RefundReturns = {
  /** Those of the acquirer's ids of returns that are refunds of ours. */
  findOwn(returnIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** False when the charge or the refund has moved since it was read: the look is repeated. */
  end(charge: ChargeRow, seen: { endToEndId: string; returned: PixReturn }): Promise<boolean>;
};
