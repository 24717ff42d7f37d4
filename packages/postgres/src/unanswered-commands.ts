import { type NextTurn, type PollingLoop, startPollingLoop } from '@pixmesh/service/polling-loop';
import type { Logger } from '@pixmesh/telemetry/logger';
import { counter, observedGauge } from '@pixmesh/telemetry/metrics';

import { appendMessages, commandIdOf, isCommand, type OutboundEvent } from './events.ts';
import { IS_PARKED } from './outbox-queue.sql.ts';
import type { Database, Queryable } from './pool.ts';
import { named, sql, type Statement } from './sql.ts';

/** Commands that are sent again in one turn; the rest is due in the next. */
const RESENDS_PER_TURN_MAX = 200;
const TURN_MS_MAX = 10_000;

const resent = counter('commands_resent_total', 'Commands sent again because no outcome came');

/**
 * Like `appendEvents`, where commands to the ledger may be among the messages: each is kept as unanswered until its
 * outcome has come.
 */
export function appendEventsAndCommands(
  guard: Statement,
  messages: readonly OutboundEvent[],
): Statement {
  const commands = messages.filter(isCommand);
  return sql`
    ${appendMessages(guard, messages)},
    unanswered as (
      insert into unanswered_commands (command_id, event_id)
      select * from unnest(
        ${commands.map(commandIdOf)}::uuid[],
        ${commands.map(({ eventId }) => eventId)}::uuid[]
      ) as command
      where exists (${guard})
    )`;
}

/** The ledger has answered these commands. Those of other services are no rows here. */
export async function endUnanswered(db: Queryable, commandIds: readonly string[]): Promise<void> {
  await db.query(
    named(
      'unanswered_commands_end',
      sql`delete from unanswered_commands where command_id = any (${commandIds}::uuid[])`,
    ),
  );
}

/** A command that is never to be published gets no outcome. Nothing for an event that is no command. */
export async function forgetCommand(db: Queryable, eventId: string): Promise<void> {
  await db.query(
    named(
      'unanswered_command_forget',
      sql`delete from unanswered_commands where event_id = ${eventId}`,
    ),
  );
}

/**
 * Sends commands again that have stayed without an outcome for longer than `resendMs`, whichever of the two was lost.
 * The header `resend` has the ledger publish an outcome that it has; a command that is only late is done once, like
 * every message that comes twice. What still waits to be published, or is parked before it was, is left alone.
 */
export function startCommandResends(deps: {
  db: Database;
  logger: Logger;
  resendMs: number;
  wakeOutbox(): void;
}): PollingLoop {
  const { db, logger, resendMs, wakeOutbox } = deps;
  observedGauge(
    'unanswered_commands_oldest_age_seconds',
    'Age of the oldest command without an outcome; 0 when there is none',
    async () => [{ value: await readOldestAge(db) }],
  );
  return startPollingLoop({ name: 'command resends', logger, turn });

  async function turn(): Promise<NextTurn> {
    const count = await resendDue(db, resendMs);
    if (count > 0) {
      resent.add(count);
      logger.warn({ count }, 'commands without an outcome sent again');
      wakeOutbox();
    }
    return { pauseMs: Math.min(resendMs / 2, TURN_MS_MAX) };
  }
}

/**
 * Returns how many were queued. Replicas share the work. Reads all of `unanswered_commands`, some hundred milliseconds
 * for hundreds of thousands: an index by time would be written by each command, for a turn in 10 s.
 */
export async function resendDue(db: Queryable, resendMs: number): Promise<number> {
  const rows = await db.query(
    named(
      'unanswered_commands_resend',
      sql`
        with due as (
          select command_id, event_id
          from unanswered_commands
          where sent_at < now() - ${resendMs}::float8 * interval '1 ms'
            and not exists (select from outbox where outbox.event_id = unanswered_commands.event_id)
            and not exists (
              select from events where events.event_id = unanswered_commands.event_id and ${IS_PARKED}
            )
          order by sent_at
          limit ${RESENDS_PER_TURN_MAX}
          for update skip locked
        ),
        sent as (
          update unanswered_commands
          set sent_at = now()
          from due
          where unanswered_commands.command_id = due.command_id
            and unanswered_commands.event_id = due.event_id
          returning unanswered_commands.event_id
        )
        insert into outbox (event_id, is_resend)
        select event_id, true from sent order by event_id
        returning event_id`,
    ),
  );
  return rows.length;
}

/**
 * Queues events once more that are neither queued nor parked, marked as sent again, so that a message that is parked
 * where it goes is parked once. Returns how many.
 */
export async function queueAgain(db: Queryable, eventIds: readonly string[]): Promise<number> {
  const rows = await db.query(
    named(
      'outbox_queue_again',
      sql`
        insert into outbox (event_id, is_resend)
        select event_id, true
        from events
        where event_id = any (${eventIds}::uuid[])
          and not exists (select from outbox where outbox.event_id = events.event_id)
          and not ${IS_PARKED}
        order by event_id
        returning event_id`,
    ),
  );
  return rows.length;
}

async function readOldestAge(db: Queryable): Promise<number> {
  const [row] = await db.query<{ age: number | null }>(
    named(
      'unanswered_commands_oldest_age',
      sql`
        select extract(epoch from now() - min(uuid_extract_timestamp(event_id)))::float8 as age
        from unanswered_commands`,
    ),
  );
  return Math.max(0, row?.age ?? 0);
}
