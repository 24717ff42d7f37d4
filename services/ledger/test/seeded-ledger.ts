import { createPool, type Database, type Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';

/** A superuser's one connection, in the ledger's schema however often it is opened anew. */
export function openAsSuperuser(adminUrl: string): Database {
  const url = new URL(adminUrl);
  url.searchParams.set('options', '-c search_path=ledger');
  return createPool({ url: url.href, applicationName: 'test', max: 1 });
}

/**
 * Books that agree, written by a superuser past the engine: `owners` owners with `payouts` rounds each of a credit,
 * a hold and its settlement, which are three journals and seven entries, plus one open hold and one open suspense
 * item an owner. Journals are `secondsApart` apart and end now.
 */
export async function seedLedger(
  admin: Queryable,
  size: { owners: number; payouts: number; secondsApart?: number },
): Promise<void> {
  await admin.query(sql`
    create temporary table seed as
    select
      uuidv7() as account_id,
      ${size.payouts * 3 + 2}::int as journals
    from generate_series(1, ${size.owners}::int)`);
  await seedJournals(admin, size.secondsApart ?? 0);
  await seedEntries(admin);
  await seedItems(admin);
  await admin.query(sql`drop table seed`);
  await admin.query(sql`analyze`);
}

/** Journal `n` of an owner: rounds of credit, hold, settlement; then a hold that stays open, and suspense. */
const KIND = sql`
  case
    when version = journals - 1 then 'take_hold'
    when version = journals then 'suspend_received_pix'
    when version % 3 = 1 then 'credit_received_pix'
    when version % 3 = 2 then 'take_hold'
    else 'settle_hold'
  end`;

async function seedJournals(admin: Queryable, secondsApart: number): Promise<void> {
  await admin.query(sql`
    insert into journals (command_id, account_id, version, created_at, kind, outcome, fingerprint)
    select
      gen_random_uuid(), account_id, version,
      now() - (journals - version) * ${secondsApart}::float8 * interval '1 s',
      (${KIND})::journal_kind, 'booked', gen_random_uuid()
    from seed
    cross join lateral generate_series(1, journals) as version`);
}

/** A credit brings 100; a hold takes 10 and 1 of fee; a settlement sends them on; suspense brings 5. */
async function seedEntries(admin: Queryable): Promise<void> {
  await admin.query(sql`
    insert into entries (account_id, version, kind, amount, balance_after)
    select
      account_id, version, moved.kind::account_kind, amount,
      sum(amount) over (partition by account_id, moved.kind order by version)
    from journals
    join seed using (account_id)
    join (values
      ('credit_received_pix', 'available', 100), ('credit_received_pix', 'acquirer_clearing', -100),
      ('take_hold', 'available', -11), ('take_hold', 'held', 11),
      ('settle_hold', 'held', -11), ('settle_hold', 'acquirer_clearing', 10), ('settle_hold', 'fees', 1),
      ('suspend_received_pix', 'suspense', 5), ('suspend_received_pix', 'acquirer_clearing', -5)
    ) as moved (journal, kind, amount) on moved.journal = journals.kind::text`);
  await admin.query(sql`
    insert into accounts (account_id, available, held, suspense, acquirer_clearing, fees, version, moved_at)
    select
      account_id,
      coalesce(sum(amount) filter (where kind = 'available'), 0),
      coalesce(sum(amount) filter (where kind = 'held'), 0),
      coalesce(sum(amount) filter (where kind = 'suspense'), 0),
      coalesce(sum(amount) filter (where kind = 'acquirer_clearing'), 0),
      coalesce(sum(amount) filter (where kind = 'fees'), 0),
      max(version),
      (select max(created_at) from journals where journals.account_id = entries.account_id)
    from entries
    join seed using (account_id)
    group by account_id`);
}

async function seedItems(admin: Queryable): Promise<void> {
  await admin.query(sql`
    insert into holds (hold_id, account_id, resource_id, amount, fee, created_at, state, kind)
    select gen_random_uuid(), account_id, gen_random_uuid(), 10, 1, now(), 'open', 'payout' from seed`);
  await admin.query(sql`
    insert into suspense_items (id, account_id, amount, reason, created_at)
    select gen_random_uuid(), account_id, 5, 'unowned', now() from seed`);
}
