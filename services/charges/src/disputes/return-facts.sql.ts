import type { AcquirerDispute } from '@pixmesh/acquirer/acquirer';
import type { DisputeId } from '@pixmesh/kernel/ids';
import { type Cents, toCents } from '@pixmesh/kernel/money';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { attributeReturns, type DisputeFacts, type ReturnFacts } from './attribute-returns.ts';
import type { DisputeRow } from './dispute-row.ts';

/** Columns with all disputes of a Pix and all its returns under the MED. */
export function returnFacts(endToEndId: Statement): Statement {
  return sql`
    (
      select json_agg(json_build_object(
        'infraction_id', facts.infraction_id, 'amount', facts.amount::text, 'opened_at', facts.opened_at,
        'accepted_at', case when facts.acquirer_status = 'accepted' then facts.acquirer_decided_at end,
        'id', facts.id, 'block', facts.block
      ))
      from disputes as facts
      where facts.end_to_end_id = ${endToEndId}
    ) as dispute_facts,
    (
      select json_agg(json_build_object(
        'return_id', pix_returns.return_id, 'amount', pix_returns.amount::text,
        'settled_at', med_return_times.settled_at
      ))
      from pix_returns
      left join med_return_times using (end_to_end_id, return_id)
      where pix_returns.end_to_end_id = ${endToEndId} and pix_returns.disposition = 'med'
    ) as return_facts`;
}

export type PixDispute = DisputeFacts & Pick<DisputeRow, 'id' | 'block'>;

export type ReturnFactsRecord = {
  dispute_facts:
    | {
        id: DisputeId;
        infraction_id: string;
        amount: string;
        opened_at: string;
        accepted_at: string | null;
        block: DisputeRow['block'];
      }[]
    | null;
  return_facts: { return_id: string; amount: string; settled_at: string | null }[] | null;
};

/** What of its Pix was returned for one dispute. */
export function toReturnedAmount(row: ReturnFactsRecord, infractionId: string): Cents {
  const returned = attributeReturns(disputesOf(row), returnsOf(row));
  return toCents(returned.get(infractionId) ?? 0n);
}

/** The same for a dispute as the acquirer shows it now: not stored yet, or with a new decision. */
export async function findReturnedAmount(db: Queryable, seen: AcquirerDispute): Promise<Cents> {
  const { id: infractionId, endToEndId, status } = seen;
  const { disputes, returns } = await findDisputesOfPix(db, endToEndId);
  const own = {
    infractionId,
    amount: seen.amountCents,
    openedAt: seen.openedAt,
    acceptedAt: status === 'accepted' ? seen.decidedAt : null,
  };
  const others = disputes.filter((facts) => facts.infractionId !== infractionId);
  const returned = attributeReturns([...others, own], returns);
  return toCents(returned.get(infractionId) ?? 0n);
}

/** All disputes of a Pix, and all its returns under the MED that are booked. */
export async function findDisputesOfPix(
  db: Queryable,
  endToEndId: string,
): Promise<{ disputes: PixDispute[]; returns: ReturnFacts[] }> {
  const rows = await db.query<ReturnFactsRecord>(
    named('find_return_facts', sql`select ${returnFacts(sql`${endToEndId}`)}`),
  );
  const row = rows[0] ?? { dispute_facts: null, return_facts: null };
  return { disputes: disputesOf(row), returns: returnsOf(row) };
}

function disputesOf({ dispute_facts: facts }: ReturnFactsRecord): PixDispute[] {
  return (facts ?? []).map((row) => ({
    id: row.id,
    block: row.block,
    infractionId: row.infraction_id,
    amount: BigInt(row.amount),
    openedAt: new Date(row.opened_at),
    acceptedAt: row.accepted_at === null ? null : new Date(row.accepted_at),
  }));
}

function returnsOf({ return_facts: facts }: ReturnFactsRecord): ReturnFacts[] {
  return (facts ?? []).map((row) => ({
    returnId: row.return_id,
    amount: BigInt(row.amount),
    settledAt: row.settled_at === null ? null : new Date(row.settled_at),
  }));
}
