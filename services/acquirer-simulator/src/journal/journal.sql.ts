import type { Database, Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/** As the control API shows it; amounts in cents. */
export type JournalEntry = {
  sequence: number;
  at: string;
  kind:
    | 'issued'
    | 'refused'
    | 'canceled'
    | 'paid'
    | 'sent'
    | 'settled'
    | 'rejected'
    | 'returned'
    | 'adjusted'
    | 'dispute_opened'
    | 'dispute_decided';
  txid: string | null;
  id_envio: string | null;
  end_to_end_id: string | null;
  amount: number | null;
  natureza: string | null;
};

/** Key of the advisory lock that every statement adding to the journal holds in shared mode. */
const GATE_KEY = 7_314_001;

/**
 * First part of every statement that adds to the journal; the entry must be selected from what depends on
 * it. While a reader holds the gate no number is handed out, so numbers become visible in their order.
 */
export const JOURNAL_GATE = sql`
  gate as materialized (select pg_advisory_xact_lock_shared(${GATE_KEY}))`;

/**
 * Behind the gate: the provider's time of the statement, read once. As the default of a column it would be read anew
 * for each row.
 */
export const JOURNAL_MOMENT = sql`
  moment as materialized (select now_() as at from gate)`;

/** A refusal leaves nothing else behind. */
export async function addRefusal(
  db: Queryable,
  refusal: {
    txid?: string | null;
    idEnvio?: string | null;
    endToEndId?: string | null;
    amountCents: bigint | null;
  },
): Promise<void> {
  await db.query(
    named(
      'journal_add_refusal',
      sql`
        with ${JOURNAL_GATE}
        insert into journal (kind, txid, id_envio, end_to_end_id, amount)
        select
          'refused', ${refusal.txid ?? null}, ${refusal.idEnvio ?? null},
          ${refusal.endToEndId ?? null}, ${refusal.amountCents}::bigint
        from gate`,
    ),
  );
}

/**
 * Entries after a sequence number, oldest first, and one more than asked for where there are more. Waits for
 * statements in flight, so that reading on from the last number misses nothing.
 */
export async function readJournal(
  db: Database,
  page: { after: number; limit: number },
): Promise<JournalEntry[]> {
  const rows = await db.transaction(async (tx) => {
    await tx.query(named('journal_gate', sql`select pg_advisory_xact_lock(${GATE_KEY})`));
    return await tx.query<Row>(
      named(
        'journal_read',
        sql`
          select sequence, at, kind, txid, id_envio, end_to_end_id, amount, natureza
          from journal
          where sequence > ${page.after}::bigint
          order by sequence
          limit ${page.limit + 1}::int`,
      ),
    );
  });
  return rows.map(({ sequence, at, amount, ...entry }) => ({
    ...entry,
    sequence: Number(sequence),
    at: at.toISOString(),
    amount: amount === null ? null : Number(amount),
  }));
}

type Row = Omit<JournalEntry, 'sequence' | 'at' | 'amount'> & {
  sequence: bigint;
  at: Date;
  amount: bigint | null;
};
