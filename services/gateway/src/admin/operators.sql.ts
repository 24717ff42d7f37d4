import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

export type Operator = { id: string; name: string; createdAt: Date };

const COLUMNS = sql`id, name, created_at as "createdAt"`;

/** By the unique index on the digest: only who holds the token can compute it. */
export async function findOperatorByDigest(
  db: Queryable,
  digest: Buffer,
): Promise<Operator | null> {
  const rows = await db.query<Operator>(
    named(
      'operator_find_by_digest',
      sql`
        select ${COLUMNS}
        from operators
        where token_digest = ${digest} and removed_at is null`,
    ),
  );
  return rows[0] ?? null;
}

export async function findOperator(db: Queryable, id: string): Promise<Operator | null> {
  const rows = await db.query<Operator>(
    named(
      'operator_find',
      sql`select ${COLUMNS} from operators where id = ${id} and removed_at is null`,
    ),
  );
  return rows[0] ?? null;
}

export async function insertOperator(
  tx: Transaction,
  operator: { id: string; name: string; tokenDigest: Buffer },
): Promise<Operator> {
  const [row] = await tx.query<Operator>(
    named(
      'operator_insert',
      sql`
        insert into operators (id, name, token_digest)
        values (${operator.id}, ${operator.name}, ${operator.tokenDigest})
        returning ${COLUMNS}`,
    ),
  );
  return row as Operator;
}

/** Marks an operator as removed; the row stays, because the audit log names it. Null when there is none. */
export async function removeOperator(tx: Transaction, id: string): Promise<Operator | null> {
  const rows = await tx.query<Operator>(
    named(
      'operator_remove',
      sql`
        update operators
        set removed_at = now()
        where id = ${id} and removed_at is null
        returning ${COLUMNS}`,
    ),
  );
  return rows[0] ?? null;
}

/** Newest first; reads `operators_newest`. */
export async function listOperators(
  db: Queryable,
  page: { limit: number; startingAfter: string | null },
): Promise<Operator[]> {
  return await db.query<Operator>(
    named(
      'operator_list',
      sql`
        select ${COLUMNS}
        from operators
        where removed_at is null
          and (${page.startingAfter}::uuid is null or (created_at, id) < (
            select created_at, id from operators where id = ${page.startingAfter}::uuid
          ))
        order by created_at desc, id desc
        limit ${page.limit}`,
    ),
  );
}
