import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

export type Webhook = { pixKey: string; url: string; createdAt: Date };

/** One URL per Pix key: a second registration replaces the first. */
export async function saveWebhook(
  db: Queryable,
  webhook: { pixKey: string; url: string },
): Promise<void> {
  await db.query(
    named(
      'webhook_save',
      sql`
        insert into webhooks (pix_key, url)
        values (${webhook.pixKey}, ${webhook.url})
        on conflict (pix_key) do update
        set url = excluded.url, created_at = now()`,
    ),
  );
}

export async function findWebhook(db: Queryable, pixKey: string): Promise<Webhook | null> {
  const rows = await db.query<{ url: string; created_at: Date }>(
    named('webhook_find', sql`select url, created_at from webhooks where pix_key = ${pixKey}`),
  );
  return rows[0] ? { pixKey, url: rows[0].url, createdAt: rows[0].created_at } : null;
}
