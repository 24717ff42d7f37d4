import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import type { Logger } from '@pixmesh/telemetry/logger';

import { ENDED_PER_STATEMENT_MAX, endInSteps } from './end-in-steps.ts';

/** Accounts that a line of the log names. */
const ACCOUNTS_LOGGED_MAX = 20;

/**
 * Ends events that were set aside for as long as events are kept: the partitions that would take them are dropped. Their
 * webhooks are never sent, so that is logged, with whose they were. Reads the whole table, which is short or empty.
 * Answers whether all of them are ended.
 */
export async function endOldSetAside(
  { db, logger }: { db: Queryable; logger: Logger },
  keepDays: number,
): Promise<boolean> {
  return await endInSteps(async () => {
    const ended = await endSome(db, keepDays);
    if (ended.length > 0) {
      const accountIds = [...new Set(ended)].slice(0, ACCOUNTS_LOGGED_MAX);
      logger.error(
        { events: ended.length, account_ids: accountIds, keep_days: keepDays },
        'events that were set aside are too old and ended, their webhooks are not sent',
      );
    }
    return ended.length;
  });
}

/** Answers the account of each. */
async function endSome(db: Queryable, keepDays: number): Promise<string[]> {
  const rows = await db.query<{ accountId: string }>(
    named(
      'set_aside_end_old',
      sql`
        with picked as materialized (
          select account_id, event_id
          from set_aside_events
          where event_id < uuid_v7_floor(now() - make_interval(days => ${keepDays}::int))
          limit ${ENDED_PER_STATEMENT_MAX}
          for update skip locked
        )
        delete from set_aside_events
        using picked
        where set_aside_events.account_id = picked.account_id and set_aside_events.event_id = picked.event_id
        returning set_aside_events.account_id as "accountId"`,
    ),
  );
  return rows.map(({ accountId }) => accountId);
}
