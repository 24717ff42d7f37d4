import type { AcquirerDispute } from '@pixmesh/acquirer/client';
import { type Cents, toCents } from '@pixmesh/kernel/money';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { attributeReturns, type DisputeFacts, type ReturnFacts } from './attribute-returns.ts';

/** Columns with all disputes of a Pix and all its returns under the MED. */
export function returnFacts(endToEndId: Statement): Statement {
  return sql`
    (
      select json_agg(json_build_object(
        'infraction_id', facts.infraction_id, 'amount', facts.amount::text, 'opened_at', facts.opened_at,
        'accepted_at', case when facts.acquirer_status = 'accepted' then facts.acquirer_decided_at end
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

export type ReturnFactsRecord = {
  dispute_facts:
    | { infraction_id: string; amount: string; opened_at: string; accepted_at: string | null }[]
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
  const rows = await db.query<ReturnFactsRecord>(
    named('find_return_facts', sql`select ${returnFacts(sql`${endToEndId}`)}`),
  );
  const row = rows[0] ?? { dispute_facts: null, return_facts: null };
  const own = {
    infractionId,
    amount: seen.amountCents,
    openedAt: seen.openedAt,
    acceptedAt: status === 'accepted' ? seen.decidedAt : null,
  };
  const others = disputesOf(row).filter((facts) => facts.infractionId !== infractionId);
  const returned = attributeReturns([...others, own], returnsOf(row));
  return toCents(returned.get(infractionId) ?? 0n);
}

function disputesOf({ dispute_facts: facts }: ReturnFactsRecord): DisputeFacts[] {
  return (facts ?? []).map((row) => ({
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
