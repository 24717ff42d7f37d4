import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { type ScheduleClock, scheduleNow } from '#schedule-clock.ts';

/**
 * What may be sent at once after a pause, in seconds of the rate; more than what passes between two polls of a sender.
 */
const BURST_SECONDS = 0.5;

const BURST = sql`greatest(1, per_second_max * ${BURST_SECONDS}::float8)`;
/** Statements beside each other read their clock in any order. A row further ahead was filled by one set back since. */
const AHEAD_SECONDS_MAX = 1;
/** For so long a limit has to have been left alone before it counts as not used up: longer than between two polls. */
const UNUSED_SECONDS = 2;

/**
 * Whether the limit of a row of `delivery_rates` is used up as it comes in: its deliveries wait for it, and not for
 * senders.
 */
export function isUsedUp(now: Statement): Statement {
  return sql`
    coalesce(
      tokens + per_second_max * greatest(0, extract(epoch from ${now} - filled_at) - ${UNUSED_SECONDS}::int)::float8
        < ${BURST},
      false
    )`;
}

/** An account's limit as the gateway announced it; of two the one with the higher version is the newer one. */
type AnnouncedRate = { accountId: string; perSecondMax: number | null; version: number };

/** Stores a limit, unless the same or a newer one is stored already. The primary key is the lock. */
export async function storeRate(db: Queryable, rate: AnnouncedRate): Promise<void> {
  await db.query(
    named(
      'rate_save',
      sql`
        insert into delivery_rates (account_id, per_second_max, version)
        values (${rate.accountId}, ${rate.perSecondMax}, ${rate.version})
        on conflict (account_id) do update
        set per_second_max = excluded.per_second_max, version = excluded.version
        where delivery_rates.version < excluded.version`,
    ),
  );
}

/**
 * The limit of an account, and whether senders have just taken all of it, so that more deliveries wait; null: none.
 * Primary key read.
 */
export async function findRate(
  db: Queryable,
  clock: ScheduleClock,
  accountId: string,
): Promise<{ max: number; isReached: boolean } | null> {
  const now = scheduleNow(clock);
  const [row] = await db.query<{ max: number; isReached: boolean }>(
    named(
      'rate_find',
      sql`
        select
          per_second_max as max,
          tokens < 1 and filled_at > ${now} - ${UNUSED_SECONDS}::int * interval '1 second' as "isReached"
        from delivery_rates
        where account_id = ${accountId} and per_second_max is not null`,
    ),
  );
  return row ?? null;
}

/** Deliveries per second by account, of all that have a limit: few, since an operator has set each of them. */
export async function listRates(db: Queryable): Promise<Map<string, number>> {
  const rows = await db.query<{ id: string; max: number }>(
    named(
      'rates_list',
      sql`
        select account_id as id, per_second_max as max
        from delivery_rates
        where per_second_max is not null`,
    ),
  );
  return new Map(rows.map(({ id, max }) => [id, max]));
}

/** How many deliveries a sender wants to begin, or may, or did not. */
export type Wanted = { accountId: string; count: number };

/**
 * Takes what an account may send now, at most what is wanted. Tokens come in at the rate of the limit, so over all
 * senders no second has more than the limit and a burst. Rows are locked in the order of the ids. An account without a
 * limit is not answered.
 */
export async function takeFromRates(
  db: Queryable,
  clock: ScheduleClock,
  wanted: readonly Wanted[],
): Promise<Wanted[]> {
  const now = scheduleNow(clock);
  return await db.query<Wanted>(
    named(
      'rates_take',
      sql`
        with locked as (
          select
            rate.account_id, wanted.count,
            least(
              ${BURST},
              tokens + per_second_max * greatest(0, extract(epoch from ${now} - filled_at))::float8
            ) as available
          from delivery_rates as rate
          join unnest(
              ${wanted.map(({ accountId }) => accountId)}::uuid[],
              ${wanted.map(({ count }) => count)}::int[]
            ) as wanted (account_id, count) on wanted.account_id = rate.account_id
          where per_second_max is not null
          order by rate.account_id
          for update of rate
        ),
        granted as (
          select account_id, available, least(count, floor(available))::int as count from locked
        )
        update delivery_rates
        set tokens = available - granted.count,
            filled_at = case
              when filled_at > ${now} + ${AHEAD_SECONDS_MAX}::int * interval '1 second' then ${now}
              else greatest(filled_at, ${now})
            end
        from granted
        where delivery_rates.account_id = granted.account_id
        returning granted.account_id as "accountId", granted.count`,
    ),
  );
}

/**
 * Returns what was taken and is not sent, of accounts that are named once. The next take forgets what is more than a
 * burst. Rows are locked in the order of the ids.
 */
export async function returnToRates(db: Queryable, unused: readonly Wanted[]): Promise<void> {
  await db.query(
    named(
      'rates_return',
      sql`
        with locked as (
          select rate.account_id, unused.count
          from delivery_rates as rate
          join unnest(
              ${unused.map(({ accountId }) => accountId)}::uuid[],
              ${unused.map(({ count }) => count)}::int[]
            ) as unused (account_id, count) on unused.account_id = rate.account_id
          order by rate.account_id
          for update of rate
        )
        update delivery_rates
        set tokens = tokens + locked.count
        from locked
        where delivery_rates.account_id = locked.account_id`,
    ),
  );
}
