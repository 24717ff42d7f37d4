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
        set url = excluded.url, created_at = now_()`,
    ),
  );
}

export async function findWebhook(db: Queryable, pixKey: string): Promise<Webhook | null> {
  const [webhook = null] = await db.query<Webhook>(
    named(
      'webhook_find',
      sql`
        select pix_key as "pixKey", url, created_at as "createdAt"
        from webhooks
        where pix_key = ${pixKey}`,
    ),
  );
  return webhook;
}

/**
 * Ends a registration; false where there is none. What is queued rests until the key is registered again: nobody
 * says at which URL it would be welcome.
 */
export async function deleteWebhook(db: Queryable, pixKey: string): Promise<boolean> {
  const rows = await db.query(
    named('webhook_delete', sql`delete from webhooks where pix_key = ${pixKey} returning pix_key`),
  );
  return rows.length > 0;
}
