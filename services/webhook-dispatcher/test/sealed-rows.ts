import { newId } from '@pixmesh/kernel/ids';
import { type generateSealingKeyPair, sealSecret } from '@pixmesh/kernel/sealed-secret';
import type { Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';

import type { SealedTable } from '#resealing/sealed-secrets.sql.ts';

import { HOOK_URL } from './a-resource-envelope.ts';

export type SealedRow = { table: SealedTable; ownerId: string; context: string; clear: string };

type KeyPair = ReturnType<typeof generateSealingKeyPair>;

/** The private keys of several pairs, as one environment has them. */
export function mergedKeys(...pairs: KeyPair[]): string {
  const rings = pairs.map(({ privateKeys }) => JSON.parse(privateKeys) as object);
  return JSON.stringify(Object.assign({}, ...rings));
}

/** Rows of a table, each with a secret of its own that is sealed to a key. */
export async function storeSealed(
  db: Queryable,
  { table, key, count }: { table: SealedTable; key: KeyPair; count: number },
): Promise<SealedRow[]> {
  const accountId = newId();
  const rows = Array.from({ length: count }, (_, index): SealedRow => {
    const ownerId = newId();
    return { table, ownerId, context: `${accountId}/${ownerId}`, clear: `whsec_${index}_secret` };
  });
  const ids = rows.map(({ ownerId }) => ownerId);
  const sealed = rows.map(({ clear, context }) => sealSecret(key.publicKey, clear, context));
  await db.query(
    table === 'endpoints'
      ? sql`
          insert into endpoints (
            id, account_id, application_id, url, description, events, sealed_secret, deleted_at
          )
          select id, ${accountId}, ${newId()}, ${HOOK_URL}, '', '{charge.pix.paid}', sealed, deleted_at
          from unnest(${ids}::uuid[], ${sealed}::text[]) with ordinality as made (id, sealed, place)
          -- Every other one is deleted: its secret counts all the same.
          cross join lateral (select case when place % 2 = 0 then now() end as deleted_at) as ended`
      : sql`
          insert into destinations (resource_id, account_id, url, sealed_secret)
          select id, ${accountId}, ${HOOK_URL}, sealed
          from unnest(${ids}::uuid[], ${sealed}::text[]) as made (id, sealed)`,
  );
  return rows;
}

/** The stored texts of these rows, in their order. */
export async function readSealed(db: Queryable, rows: readonly SealedRow[]): Promise<string[]> {
  const ids = rows.map(({ ownerId }) => ownerId);
  const stored = await db.query<{ id: string; sealed_secret: string }>(sql`
    select id, sealed_secret
    from (
      select id, sealed_secret from endpoints union all select resource_id, sealed_secret from destinations
    ) as stored
    where id = any (${ids}::uuid[])`);
  const byId = new Map(stored.map((row) => [row.id, row.sealed_secret]));
  return ids.map((id) => byId.get(id) ?? '');
}
