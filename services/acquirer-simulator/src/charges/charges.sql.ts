import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';
import { createWriteBatcher, type WriteBatcher } from '@pixmesh/postgres/write-batcher';

import { readWindowPage } from '#api-pix/list-window.sql.ts';
import type { Window } from '#api-pix/window.ts';
import { JOURNAL_GATE } from '#journal/journal.sql.ts';
import { RETURNS_OF_PIX, type ReturnsOfPix, toPixReturns } from '#pix/returns.sql.ts';

import type { StoredCharge } from './charge-resource.ts';

/**
 * Charges with everything paid to them; null for a txid that nobody has used. Reads that come together share a
 * statement.
 */
export type ChargeReads = WriteBatcher<string, StoredCharge | null>;

export function createChargeReads(db: Queryable): ChargeReads {
  return createWriteBatcher((txids) => findCharges(db, txids));
}

/** In the order of the txids. Primary key and `received_pix_txid`. */
async function findCharges(
  db: Queryable,
  txids: readonly string[],
): Promise<(StoredCharge | null)[]> {
  const rows = await db.query<Row>(
    named(
      'charges_find',
      sql`
        select ${COLUMNS}, ${RECEIVED} as received
        from charges
        where txid = any(${txids}::text[])`,
    ),
  );
  const found = new Map(rows.map((row) => [row.txid, toStoredCharge(row)]));
  return txids.map((txid) => found.get(txid) ?? null);
}

/** Takes an unpaid charge off, with its journal entry; null when it is not ATIVA or not there. */
export async function removeCharge(db: Queryable, txid: string): Promise<StoredCharge | null> {
  const rows = await db.query<Row>(
    named(
      'charge_remove',
      sql`
        with ${JOURNAL_GATE},
        removed as (
          update charges
          set status = 'REMOVIDA_PELO_USUARIO_RECEBEDOR', revision = revision + 1, pays_at = null
          from gate
          where txid = ${txid} and status = 'ATIVA'
          returning charges.*
        ),
        entry as (
          insert into journal (kind, txid, amount)
          select 'canceled', txid, amount
          from removed
        )
        select ${COLUMNS}, null as received
        from removed`,
    ),
  );
  return rows[0] ? toStoredCharge(rows[0]) : null;
}

/** Filters of the list, each on its own. */
export type ChargeFilters = {
  cpf?: string | undefined;
  cnpj?: string | undefined;
  locationPresente?: boolean | undefined;
  status?: string | undefined;
};

/**
 * One page of what was issued in a window, both ends included, oldest first. No index: people ask for it, not services.
 */
export async function listCharges(db: Queryable, asked: Window & ChargeFilters) {
  const list = {
    name: 'charges',
    columns: sql`${COLUMNS}, ${RECEIVED} as received`,
    within: sql`
      from charges
      where created_at between ${asked.from} and ${asked.to}
        and (${asked.cpf ?? null}::text is null or debtor ->> 'cpf' = ${asked.cpf ?? null}::text)
        and (${asked.cnpj ?? null}::text is null or debtor ->> 'cnpj' = ${asked.cnpj ?? null}::text)
        and (${asked.status ?? null}::text is null or status = ${asked.status ?? null}::text)
        and ${asked.locationPresente ?? true}::boolean`,
    order: sql`created_at, number`,
  };
  const { rows, total } = await readWindowPage<Row>(db, list, asked);
  return { rows: rows.map(toStoredCharge), total };
}

const COLUMNS: Statement = sql`
  txid, number, status, amount as "amountCents", pix_key as "pixKey",
  expires_in_seconds as "expiresInSeconds", location, br_code as "brCode", revision, debtor,
  payer_request as "payerRequest", additional_info as "additionalInfo", created_at as "createdAt"`;

/**
 * Amounts as text: JSON numbers would pass through floats. One JSON value, or null where nobody has paid: an array of
 * Postgres would be taken apart character by character.
 */
const RECEIVED: Statement = sql`
  (
    select json_agg(
      json_build_object(
        'endToEndId', end_to_end_id,
        'pixKey', received_pix.pix_key,
        'amount', received_pix.amount::text,
        'paidAt', paid_at,
        'tariff', tariff::text,
        'returns', ${RETURNS_OF_PIX}
      )
      order by recorded_at, end_to_end_id
    )
    from received_pix
    where received_pix.txid = charges.txid and own
  )`;

function toStoredCharge({ received, ...charge }: Row): StoredCharge {
  return {
    ...charge,
    received: (received ?? []).map(({ endToEndId, pixKey, amount, paidAt, tariff, returns }) => ({
      endToEndId,
      txid: charge.txid,
      pixKey,
      amountCents: BigInt(amount),
      paidAt: new Date(paidAt),
      tariffCents: tariff === null ? null : BigInt(tariff),
      returns: toPixReturns(returns),
    })),
  };
}

type Row = Omit<StoredCharge, 'received'> & {
  received:
    | {
        endToEndId: string;
        pixKey: string;
        amount: string;
        paidAt: string;
        tariff: string | null;
        returns: ReturnsOfPix | null;
      }[]
    | null;
};
