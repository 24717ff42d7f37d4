import { commandIdOf, isCommand, type OutboundEvent } from './events.ts';
import { sql, type Statement } from './sql.ts';

/** The messages of one change among those that a statement writes. */
export type MessagesOfChange = {
  /** Which of the changes. */
  place: number;
  messages: readonly OutboundEvent[];
  /** The trace that each of them continues, unless it says its own. */
  traceparent: string | null;
};

/**
 * CTEs that append and queue the messages of many changes, each for as long as its place is among the rows of
 * `guard`: like `appendEventsAndCommands`, where one statement writes a batch. Commands to the ledger are kept as
 * unanswered.
 *
 * @param guard a select of one column, the places of the changes that were made
 */
export function appendBatch(guard: Statement, changes: readonly MessagesOfChange[]): Statement {
  const rows = changes
    .flatMap((change) => change.messages.map((message) => toRow(change, message)))
    .map((row, position) => ({ ...row, position }));
  return sql`
    message as (
      select *
      from json_to_recordset(${JSON.stringify(rows)}::json) as message (
        position int, place int, event_id uuid, command_id uuid, topic text, key text, type text, sequence int, headers json,
        message json, traceparent text
      )
      where place in (${guard})
    ),
    appended as (
      insert into events (event_id, topic, key, type, sequence, headers, message, traceparent)
      select event_id, topic, key, type, sequence, headers, message, traceparent from message
    ),
    queued as (
      insert into outbox (event_id) select event_id from message order by position
    ),
    unanswered as (
      insert into unanswered_commands (command_id, event_id)
      select command_id, event_id from message where command_id is not null
    )`;
}

function toRow({ place, traceparent }: MessagesOfChange, event: OutboundEvent): object {
  const { eventId, topic, key, type, sequence, headers, message } = event;
  return {
    place,
    event_id: eventId,
    command_id: isCommand(event) ? commandIdOf(event) : null,
    topic,
    key,
    type,
    sequence,
    headers: headers ?? null,
    message,
    traceparent: event.traceparent === undefined ? traceparent : event.traceparent,
  };
}
