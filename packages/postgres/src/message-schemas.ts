import type { Queryable, Transaction } from './pool.ts';
import { named, sql } from './sql.ts';

/** A message schema as the registry has it. */
export type MessageSchema = { subject: string; id: number; text: string };

/** What the deploy jobs of this and former versions have registered. */
export async function loadMessageSchemas(db: Queryable): Promise<MessageSchema[]> {
  return await db.query<MessageSchema>(
    named('message_schemas_load', sql`select subject, id, schema as text from message_schemas`),
  );
}

/**
 * Stores what the registry has answered. One id stands for one text, and a subject has a text under one id: what says
 * otherwise is of a registry that was built anew since, and goes. Schemas of former versions stay, because messages of
 * them do. The lock keeps deploy jobs in line; services read on meanwhile.
 */
export async function storeMessageSchemas(
  tx: Transaction,
  schemas: readonly MessageSchema[],
): Promise<void> {
  const registered = sql`
    unnest(
      ${schemas.map(({ subject }) => subject)}::text[],
      ${schemas.map(({ id }) => id)}::integer[],
      ${schemas.map(({ text }) => text)}::text[]
    ) as registered (subject, id, schema)`;
  await tx.query(sql`lock table message_schemas in share row exclusive mode`);
  await tx.query(
    sql`
      delete from message_schemas as stored
      where exists (
        select from ${registered}
        where (registered.id = stored.id and registered.schema <> stored.schema)
           or (registered.subject = stored.subject and registered.schema = stored.schema
               and registered.id <> stored.id)
      )`,
  );
  await tx.query(
    sql`
      insert into message_schemas (subject, id, schema)
      select subject, id, schema from ${registered}
      on conflict do nothing`,
  );
}
