import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/** The stored value, or undefined when nothing was ever set under the name. */
export async function readSetting(db: Queryable, name: string): Promise<unknown> {
  const rows = await db.query<{ value: unknown }>(
    named('setting_read', sql`select value from settings where name = ${name}`),
  );
  return rows[0]?.value;
}

export async function writeSetting(db: Queryable, name: string, value: object): Promise<void> {
  await db.query(
    named(
      'setting_write',
      sql`
        insert into settings (name, value)
        values (${name}, ${JSON.stringify(value)}::jsonb)
        on conflict (name) do update
        set value = excluded.value`,
    ),
  );
}
