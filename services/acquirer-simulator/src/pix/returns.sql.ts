import { sql, type Statement } from '@pixmesh/postgres/sql';

import type { PixReturn } from './return-resource.ts';

/**
 * The returns of a row of `received_pix`, in the order in which they were accepted, as one JSON value; null where
 * nothing went back. Amounts as text: JSON numbers would pass through floats.
 */
export const RETURNS_OF_PIX: Statement = sql`
  (
    select json_agg(
      json_build_object(
        'returnId', return_id,
        'id', id,
        'status', status,
        'amount', received_returns.amount::text,
        'nature', nature,
        'description', description,
        'reason', reason,
        'requestedAt', requested_at,
        'settledAt', settled_at
      )
      order by number
    )
    from received_returns
    where received_returns.end_to_end_id = received_pix.end_to_end_id
  )`;

/** As `RETURNS_OF_PIX` gives them. */
export type ReturnsOfPix = (Omit<PixReturn, 'amountCents' | 'requestedAt' | 'settledAt'> & {
  amount: string;
  requestedAt: string;
  settledAt: string | null;
})[];

export function toPixReturns(returns: ReturnsOfPix | null): PixReturn[] {
  return (returns ?? []).map(({ amount, requestedAt, settledAt, ...rest }) => ({
    ...rest,
    amountCents: BigInt(amount),
    requestedAt: new Date(requestedAt),
    settledAt: settledAt === null ? null : new Date(settledAt),
  }));
}
