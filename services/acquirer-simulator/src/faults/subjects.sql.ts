import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { Subject, SubjectNames } from './subject.ts';

/**
 * Whom each of these is about, in their order. Index: every join is by a primary key or by `sends_id_envio`. No lock;
 * what the caller's transaction has not committed is not seen, so names that it knows itself come with the question.
 */
export async function findSubjects(
  db: Queryable,
  asked: readonly SubjectNames[],
): Promise<Subject[]> {
  const column = (name: keyof SubjectNames): (string | null)[] =>
    asked.map((names) => names[name] ?? null);
  return await db.query<Subject>(
    named(
      'faults_find_subjects',
      sql`select
          coalesce(asked.txid, pix.txid) as txid,
          coalesce(asked.id_envio, send.id_envio) as id_envio,
          coalesce(asked.pix_key, send.recipient ->> 'chave', charge.pix_key, pix.pix_key) as pix_key,
          coalesce(asked.debtor, charge.debtor ->> 'nome') as debtor
        from unnest(
          ${column('txid')}::text[], ${column('idEnvio')}::text[], ${column('endToEndId')}::text[],
          ${column('disputeId')}::uuid[], ${column('pixKey')}::text[], ${column('debtor')}::text[]
        ) with ordinality as asked (txid, id_envio, end_to_end_id, dispute_id, pix_key, debtor, number)
        left join disputes on disputes.id = asked.dispute_id
        left join received_pix pix
          on pix.end_to_end_id = coalesce(asked.end_to_end_id, disputes.end_to_end_id)
        left join charges charge on charge.txid = coalesce(asked.txid, pix.txid)
        left join lateral (
          select sends.id_envio, sends.recipient from sends where sends.id_envio = asked.id_envio
          union all
          select sends.id_envio, sends.recipient from sends
          where asked.id_envio is null and sends.end_to_end_id = asked.end_to_end_id
        ) send on true
        order by asked.number`,
    ),
  );
}
