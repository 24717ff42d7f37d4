import assert from 'node:assert';

import type { MessageType } from '@pixmesh/contracts/messages/message-type';
import { TOPICS } from '@pixmesh/contracts/topics';
import { currentTraceParent } from '@pixmesh/telemetry/tracing';
import { z } from 'zod';

import { sql, type Statement } from './sql.ts';

/** On a message that was published before and whose sender still waits for what comes of it. */
export const RESEND_HEADER = 'resend';

/** A message on its way to a topic: what `events` keeps for ever and the relay publishes. */
export type OutboundEvent = {
  eventId: string;
  topic: string;
  /** Kafka key: the id whose order matters. */
  key: string;
  type: string;
  /** Position among the messages of its resource, from 1 without gaps; null where none is promised. */
  sequence: number | null;
  /** Extra message headers, such as `kind`. */
  headers?: Readonly<Record<string, string>>;
  /** The envelope in wire form (plain JSON values). */
  message: object;
  /** The trace it continues; absent: the active one. Events of a batch each have their own. */
  traceparent?: string | null;
};

/**
 * Encodes a message to its wire form, checked by its own schema, so that the relay can always publish it.
 * @throws ZodError when the value does not fit: a bug, before anything is stored
 */
export function outboundEvent<Schema extends z.ZodObject>(
  message: MessageType<Schema>,
  place: { key: string; sequence: number | null; headers?: Readonly<Record<string, string>> },
  value: z.output<Schema>,
): OutboundEvent {
  const wire = z.encode(message.schema, value) as { event_id: string };
  return {
    ...place,
    eventId: wire.event_id,
    topic: message.topic,
    type: message.type,
    message: wire,
  };
}

/**
 * A pair of CTEs that append events and queue them: a change of state, its events and their place in the queue are one
 * statement.
 *
 * @param guard a select; nothing is appended where it finds no row
 */
export function appendEvents(guard: Statement, events: readonly OutboundEvent[]): Statement {
  assert(!events.some(isCommand), 'commands are appended by appendEventsAndCommands');
  return appendMessages(guard, events);
}

/** Whether its sender waits for an outcome of it. */
export function isCommand({ topic }: Pick<OutboundEvent, 'topic'>): boolean {
  return topic === TOPICS.ledgerCommands;
}

/** Under which the ledger books a command once, for ever. */
export function commandIdOf({ message }: OutboundEvent): string {
  return (message as { data: { command_id: string } }).data.command_id;
}

/** Like `appendEvents`, for commands too. */
export function appendMessages(guard: Statement, events: readonly OutboundEvent[]): Statement {
  const trace = currentTraceParent();
  return sql`
    appended as (
      insert into events (event_id, topic, key, type, sequence, headers, message, traceparent)
      select * from unnest(
        ${events.map((event) => event.eventId)}::uuid[],
        ${events.map((event) => event.topic)}::text[],
        ${events.map((event) => event.key)}::text[],
        ${events.map((event) => event.type)}::text[],
        ${events.map((event) => event.sequence)}::int[],
        ${events.map((event) => (event.headers ? JSON.stringify(event.headers) : null))}::json[],
        ${events.map((event) => JSON.stringify(event.message))}::json[],
        ${events.map((event) => (event.traceparent === undefined ? trace : event.traceparent))}::text[]
      ) as event
      where exists (${guard})
    ),
    queued as (
      insert into outbox (event_id)
      select queue.event_id
      from unnest(${events.map((event) => event.eventId)}::uuid[])
        with ordinality as queue (event_id, position)
      where exists (${guard})
      order by queue.position
    )`;
}
