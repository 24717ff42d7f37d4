import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

/** Newest things of each kind that the state shows. */
const STATE_ITEMS_MAX = 50;

/** Amounts in cents, times in ISO 8601, as everywhere in the control API. */
export type ReturnState = {
  id: string;
  amount: number;
  natureza: string;
  status: string;
};

export type ChargeState = {
  txid: string;
  status: string;
  expired: boolean;
  amount: number;
  paid: number;
  created_at: string;
  expires_at: string;
};

export type PixState = {
  end_to_end_id: string;
  txid: string | null;
  chave: string;
  /** False: paid to a key that is not the account's. */
  own: boolean;
  amount: number;
  tariff: number | null;
  paid_at: string;
  returns: ReturnState[];
};

export type SendState = {
  end_to_end_id: string;
  id_envio: string | null;
  status: string;
  amount: number;
  requested_at: string;
  settled_at: string | null;
  returns: ReturnState[];
};

export type DisputeState = {
  id: string;
  end_to_end_id: string;
  amount: number;
  reason: string;
  status: string;
  opened_at: string;
  deadline_at: string;
  decided_at: string | null;
};

export type CallbackState = {
  id: number;
  attempts: number;
  held: boolean;
  /** Null where every attempt was in vain; by the real clock. */
  next_attempt_at: string | null;
  body: { pix: object[] };
};

/** The newest things of each kind. */
export type States = {
  charges: ChargeState[];
  pix: PixState[];
  sends: SendState[];
  disputes: DisputeState[];
  /** Notices still to be sent, and those given up. */
  callbacks: CallbackState[];
};

const STATEMENTS: Readonly<Record<keyof States, Statement>> = {
  charges: named(
    'state_charges',
    sql`
        select jsonb_build_object(
          'txid', txid,
          'status', status,
          'expired', status = 'ATIVA' and expires_at <= now_(),
          'amount', amount,
          'paid', coalesce(
            (select sum(pix.amount) from received_pix as pix where pix.txid = newest.txid and own), 0
          ),
          'created_at', created_at,
          'expires_at', expires_at
        ) as state
        from (
          select *, created_at + make_interval(secs => expires_in_seconds) as expires_at
          from charges
          order by number desc
          limit ${STATE_ITEMS_MAX}::int
        ) as newest
        order by number desc`,
  ),
  pix: named(
    'state_pix',
    sql`
        select jsonb_build_object(
          'end_to_end_id', end_to_end_id,
          'txid', txid,
          'chave', pix_key,
          'own', own,
          'amount', amount,
          'tariff', tariff,
          'paid_at', paid_at,
          'returns', array(
            select jsonb_build_object(
              'id', back.id, 'amount', back.amount, 'natureza', nature, 'status', status
            )
            from received_returns as back
            where back.end_to_end_id = newest.end_to_end_id
            order by back.number
          )
        ) as state
        from (
          select *
          from received_pix
          order by recorded_at desc, end_to_end_id desc
          limit ${STATE_ITEMS_MAX}::int
        ) as newest
        order by recorded_at desc, end_to_end_id desc`,
  ),
  sends: named(
    'state_sends',
    sql`
        select jsonb_build_object(
          'end_to_end_id', end_to_end_id,
          'id_envio', id_envio,
          'status', status,
          'amount', amount,
          'requested_at', requested_at,
          'settled_at', settled_at,
          'returns', array(
            select jsonb_build_object(
              'id', back.id, 'amount', back.amount, 'natureza', nature, 'status', 'DEVOLVIDO'
            )
            from send_returns as back
            where back.end_to_end_id = newest.end_to_end_id
            order by returned_at, return_id
          )
        ) as state
        from (
          select *
          from sends
          order by requested_at desc, end_to_end_id desc
          limit ${STATE_ITEMS_MAX}::int
        ) as newest
        order by requested_at desc, end_to_end_id desc`,
  ),
  disputes: named(
    'state_disputes',
    sql`
        select jsonb_build_object(
          'id', id,
          'end_to_end_id', end_to_end_id,
          'amount', amount,
          'reason', reason,
          'status', status,
          'opened_at', opened_at,
          'deadline_at', deadline_at,
          'decided_at', decided_at
        ) as state
        from disputes
        order by opened_at desc, protocol desc
        limit ${STATE_ITEMS_MAX}::int`,
  ),
  callbacks: named(
    'state_callbacks',
    sql`
        select jsonb_build_object(
          'id', id,
          'attempts', attempts,
          'held', held,
          'next_attempt_at', next_attempt_at,
          'body', body::jsonb
        ) as state
        from callbacks
        order by id desc
        limit ${STATE_ITEMS_MAX}::int`,
  ),
};

export async function readStates(db: Queryable): Promise<States> {
  const kinds = Object.entries(STATEMENTS);
  const lists = kinds.map(async ([kind, statement]) => [kind, await listStates(db, statement)]);
  return Object.fromEntries(await Promise.all(lists)) as States;
}

/** Rows as the database writes them in JSON, with times in the form of every other answer. */
async function listStates(db: Queryable, statement: Statement): Promise<object[]> {
  const rows = await db.query<{ state: object }>(statement);
  return rows.map(({ state }) => {
    const entries = Object.entries(state).map(([name, value]) => [
      name,
      name.endsWith('_at') && typeof value === 'string' ? toIso(value) : value,
    ]);
    return Object.fromEntries(entries) as object;
  });
}

/** As it is, where Postgres holds a time that no `Date` can: one odd row must not hide all others. */
function toIso(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : at.toISOString();
}
