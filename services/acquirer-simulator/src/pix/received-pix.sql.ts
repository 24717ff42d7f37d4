import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { readWindowPage } from '#api-pix/list-window.sql.ts';
import type { Window } from '#api-pix/window.ts';
import { JOURNAL_GATE } from '#journal/journal.sql.ts';
import { RETURNS_OF_PIX, type ReturnsOfPix, toPixReturns } from '#pix/returns.sql.ts';

import type { StoredPix } from './pix-resource.ts';

export async function findReceivedPix(
  db: Queryable,
  endToEndId: string,
): Promise<StoredPix | null> {
  const rows = await db.query<Row>(
    named(
      'received_pix_find',
      sql`
        select ${COLUMNS}
        from received_pix
        where end_to_end_id = ${endToEndId}`,
    ),
  );
  return rows[0] ? toStoredPix(rows[0]) : null;
}

export async function findReceivedPixes(
  db: Queryable,
  endToEndIds: readonly string[],
): Promise<StoredPix[]> {
  const rows = await db.query<Row>(
    named(
      'received_pixes_find',
      sql`
        select ${COLUMNS}
        from received_pix
        where end_to_end_id = any(${endToEndIds}::text[])
        order by recorded_at, end_to_end_id`,
    ),
  );
  return rows.map(toStoredPix);
}

/** A Pix that the transaction holds. */
export type HeldPix = StoredPix & {
  /** The provider's time of the read, as it is stored. */
  readAt: Date;
  /** Whether its receiver may no longer return it (90 days after it settled). */
  isTooOld: boolean;
};

/**
 * A Pix of the account, locked until the end of the transaction: whatever moves its money or contests it takes
 * turns on its row, after the journal's gate. It is read after the lock: a look-up that waits for a row would
 * still see what went back of it as it was before the wait. Null for an unknown Pix and for somebody else's.
 */
export async function holdReceivedPix(
  tx: Transaction,
  endToEndId: string,
): Promise<HeldPix | null> {
  const [held] = await tx.query<Pick<HeldPix, 'readAt' | 'isTooOld'>>(
    named(
      'received_pix_hold',
      sql`
        with ${JOURNAL_GATE}
        select
          now_()::timestamptz(3) as "readAt",
          paid_at < now_() - interval '90 days' as "isTooOld"
        from received_pix
        cross join gate
        where end_to_end_id = ${endToEndId} and own
        for update of received_pix`,
    ),
  );
  const pix = held ? await findReceivedPix(tx, endToEndId) : null;
  return held && pix ? { ...pix, ...held } : null;
}

/**
 * Filters of the list, each on its own. The payer of a charge is taken to be its debtor; of other Pix nobody knows one.
 */
export type ReceivedFilters = {
  txid?: string | undefined;
  txIdPresente?: boolean | undefined;
  devolucaoPresente?: boolean | undefined;
  cpf?: string | undefined;
  cnpj?: string | undefined;
};

/** One page of what settled in a window, both ends included, oldest first. Index `received_pix_paid_at`. */
export async function listReceivedPix(db: Queryable, asked: Window & ReceivedFilters) {
  const hasReturns = sql`
    exists (
      select from received_returns
      where received_returns.end_to_end_id = received_pix.end_to_end_id
    )`;
  const payer = sql`(select debtor from charges where charges.txid = received_pix.txid)`;
  const list = {
    name: 'received_pix',
    columns: COLUMNS,
    within: sql`
      from received_pix
      where paid_at between ${asked.from} and ${asked.to}
        and (${asked.txid ?? null}::text is null or txid = ${asked.txid ?? null}::text)
        and coalesce((txid is not null) = ${asked.txIdPresente ?? null}::boolean, true)
        and (
          ${asked.devolucaoPresente ?? null}::boolean is null
          or ${hasReturns} = ${asked.devolucaoPresente ?? null}::boolean
        )
        and (${asked.cpf ?? null}::text is null or ${payer} ->> 'cpf' = ${asked.cpf ?? null}::text)
        and (${asked.cnpj ?? null}::text is null or ${payer} ->> 'cnpj' = ${asked.cnpj ?? null}::text)`,
    order: sql`paid_at, end_to_end_id`,
  };
  const { rows, total } = await readWindowPage<Row>(db, list, asked);
  return { rows: rows.map(toStoredPix), total };
}

const COLUMNS: Statement = sql`
  end_to_end_id as "endToEndId", txid, pix_key as "pixKey", amount as "amountCents",
  paid_at as "paidAt", tariff as "tariffCents", ${RETURNS_OF_PIX} as returns`;

function toStoredPix(row: Row): StoredPix {
  return { ...row, returns: toPixReturns(row.returns) };
}

type Row = Omit<StoredPix, 'returns'> & { returns: ReturnsOfPix | null };
