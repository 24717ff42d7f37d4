import assert from 'node:assert';

import {
  type NextTurn,
  type PollingLoop,
  startPollingLoop,
  type TurnContext,
} from '@pixmesh/service/polling-loop';
import type { WakeSignal } from '@pixmesh/service/wake-signal';
import type { Logger } from '@pixmesh/telemetry/logger';
import { counter, observedGauge } from '@pixmesh/telemetry/metrics';

import {
  type DeadLetter,
  type Dismissal,
  IS_OPEN,
  markDismissed,
  markReplayed,
  parkMessage,
} from './dead-letters.ts';
import type { OutboundEvent } from './events.ts';
import type { Database, Transaction } from './pool.ts';
import { named, sql, type Statement } from './sql.ts';
import { forgetCommand } from './unanswered-commands.ts';

/** Events per claim; `publish` splits them into requests that the broker takes. */
const CLAIM_SIZE = 500;
/**
 * Under load, one publication carries what came in this time: a broker request and three round trips to the
 * database cost the same for one event and for a hundred. Small batches do not wait.
 */
const BUSY_INTERVAL_MS = 10;
const BUSY_BATCH_MIN = 4;
/** Finds what another process committed and did not live to notify. */
const POLL_INTERVAL_MS = 100;
/** What a stop still publishes of the queue; the rest waits for the next process. */
const DRAIN_MS_MAX = 3_000;

export type PublishableEvent = OutboundEvent & { traceparent: string | null; isResend?: boolean };

/** What a publication left over; all other events of it are durable at the broker. */
export type Unpublished = {
  /** Ids of events that do not fit their schema, each with the reason. */
  misfits: ReadonlyMap<string, string>;
  /** Ids of events that the broker does not take now, and of those behind a misfit of their key. */
  postponed: ReadonlySet<string>;
};

/**
 * Hands a batch to the broker. It has to end, one way or the other, before the database ends a transaction that sits
 * idle (15 s). It throws where the broker takes nothing at all.
 */
export type Publish = (events: readonly PublishableEvent[]) => Promise<Unpublished>;

/** An event with its place in the queue. */
export type QueuedEvent = PublishableEvent & {
  place: bigint;
  /** Published before, and no outcome of it has come. */
  isResend: boolean;
  /** Behind a parked event of its key. */
  isHeld: boolean;
};

/** What parked the events of the outbox, among the consumers that park messages. */
export const OUTBOX_CONSUMER = 'outbox';
/** Places in the queue begin at 1. */
const QUEUE_START = 0n;
const NOTHING_LEFT: Unpublished = { misfits: new Map(), postponed: new Set() };

type RelayDeps = { db: Database; publish: Publish; logger: Logger };

const parked = counter('outbox_events_parked_total', 'Events that cannot be published as they are');

/**
 * Moves committed events to the broker, in order per key and at least once. What was published is taken off the queue
 * in the transaction that read it, which stays open while the broker is asked, so a crash or an error leaves it there.
 * One relay of a service works at a time: the lease's row lock belongs to that transaction. Disposing it publishes what
 * is queued, within a bound.
 *
 * An event that does not fit its schema is parked in `dead_letters`, and holds back the later ones of its key until an
 * operator has it replayed or dismisses it. Events that the broker postpones stay queued, and those behind them go on.
 */
export function startOutboxRelay(deps: RelayDeps & { signal: WakeSignal }): PollingLoop {
  const { db, logger, signal } = deps;
  let isMoreQueued = false;
  /** Where to read on while some events have to wait; null when none does. */
  let readFrom: bigint | null = null;
  /** Keys of events before that place: what comes behind them waits too, though it might go by now. */
  const waiting = new Set<string>();
  const loop = startPollingLoop({ name: 'outbox relay', logger, signal, turn });
  observedGauge('outbox_oldest_age_seconds', 'Age of the oldest unpublished event', async () => [
    { value: await readOldestAge(db) },
  ]);
  return {
    isAlive: loop.isAlive,
    [Symbol.asyncDispose]: async () => {
      await loop[Symbol.asyncDispose]();
      await drain(deps);
    },
  };

  /** Publishes one batch. A notification means that there is something; a poll peeks first, without a transaction. */
  async function turn({ isWoken }: TurnContext): Promise<NextTurn> {
    if (!isWoken && !isMoreQueued && !(await hasQueuedEvents(db))) {
      return { pauseMs: POLL_INTERVAL_MS };
    }
    isMoreQueued = false;
    if (isAtStart(readFrom)) waiting.clear();
    const batch = await relayOnce(deps, readFrom, waiting);
    isMoreQueued = batch.read === CLAIM_SIZE;
    readFrom = nextPlace(readFrom, batch);
    if (isMoreQueued) return { pauseMs: 0 };
    const gatherMs = batch.taken >= BUSY_BATCH_MIN ? BUSY_INTERVAL_MS : 0;
    return { pauseMs: POLL_INTERVAL_MS, gatherMs };
  }
}

/** A whole batch that has to wait does not stand in the way of those behind it; the end of the queue is not the end. */
function nextPlace(readFrom: bigint | null, { read, taken, last }: Batch): bigint | null {
  if (read === CLAIM_SIZE && taken === 0) return last;
  return isAtStart(readFrom) && taken === read ? null : QUEUE_START;
}

function isAtStart(readFrom: bigint | null): boolean {
  return readFrom === null || readFrom === QUEUE_START;
}

/** A broker that is away at a stop is not waited for: the events stay queued. */
async function drain(deps: RelayDeps): Promise<void> {
  const end = performance.now() + DRAIN_MS_MAX;
  try {
    while ((await relayOnce(deps)).taken > 0 && performance.now() < end);
  } catch (error) {
    deps.logger.warn({ err: error }, 'outbox not drained: events stay queued');
  }
}

/** How many events a batch read, how many left the queue (published or parked), and its last place there. */
type Batch = { read: number; taken: number; last: bigint };

/**
 * Publishes one batch. While all goes well the whole batch is claimed (`readFrom` null); while some events have to wait
 * it is read from a place on, and only what goes is taken off: a queue that waits is not written again and again.
 * `waiting` are the keys that wait before that place; those that wait in this batch come to them.
 */
export async function relayOnce(
  deps: RelayDeps,
  readFrom: bigint | null = null,
  waiting: Set<string> = new Set(),
): Promise<Batch> {
  return await deps.db.transaction(async (tx) => {
    const rows = readFrom === null ? await claimEvents(tx) : await readEvents(tx, readFrom);
    const events = rows.filter((row) => !row.isHeld && !waiting.has(lineOf(row)));
    const left = events.length === 0 ? NOTHING_LEFT : await deps.publish(events);
    const taken = events.filter(({ eventId }) => !left.postponed.has(eventId));
    for (const event of taken) {
      const reason = left.misfits.get(event.eventId);
      if (reason !== undefined) await parkEvent(deps, tx, { event, reason });
    }
    const gone = new Set(taken);
    const stay = rows.filter((row) => !gone.has(row));
    for (const row of stay) waiting.add(lineOf(row));
    if (readFrom === null) {
      await putBack(tx, stay);
    } else {
      await takeOff(tx, taken);
    }
    return { read: rows.length, taken: taken.length, last: rows.at(-1)?.place ?? QUEUE_START };
  });
}

/** What goes in order: the events of one key of a topic. */
function lineOf({ topic, key }: QueuedEvent): string {
  return JSON.stringify([topic, key]);
}

/** Its row is what holds back the later events of its key. */
async function parkEvent(
  { logger }: Pick<RelayDeps, 'logger'>,
  tx: Transaction,
  { event, reason }: { event: QueuedEvent; reason: string },
): Promise<void> {
  const { topic, key, type, eventId } = event;
  await parkMessage(tx, OUTBOX_CONSUMER, {
    topic,
    key,
    partition: 0,
    offset: event.place,
    headers: { ...event.headers, event_id: eventId, type },
    value: Buffer.from(JSON.stringify(event.message)),
    code: 'MESSAGE_INVALID',
    reason,
  });
  parked.add(1, { topic, type });
  // Under the name `key` the log would hide it, as it does secrets.
  logger.error(
    { event_id: eventId, topic, message_key: key, type, reason },
    'event parked in dead_letters',
  );
}

/** Puts a parked event back into its place in the queue, before the later ones of its key. */
export async function replayParkedEvent(db: Database, letter: DeadLetter): Promise<void> {
  const eventId = letter.headers['event_id'];
  assert(eventId, 'a parked event has its id');
  await db.transaction(async (tx) => {
    await putBack(tx, [{ place: letter.offset, eventId, isResend: false }]);
    await markReplayed(tx, letter.id);
  });
}

/**
 * Gives a parked event up: it is never published, and the later ones of its key go on. A command is not sent again
 * either. False where the letter is not open any more.
 */
export async function dismissParkedEvent(
  db: Database,
  letter: DeadLetter,
  dismissal: Dismissal,
): Promise<boolean> {
  const eventId = letter.headers['event_id'];
  assert(eventId, 'a parked event has its id');
  return await db.transaction(async (tx) => {
    if (!(await markDismissed(tx, letter.id, dismissal))) return false;
    await forgetCommand(tx, eventId);
    return true;
  });
}

/** By primary key: a plain scan would read the deleted rows that wait for vacuum, again and again. */
async function hasQueuedEvents(db: Database): Promise<boolean> {
  const rows = await db.query(named('outbox_peek', sql`select from outbox order by id limit 1`));
  return rows.length > 0;
}

/**
 * Takes the oldest rows, if no other relay of the service holds the lease. The row lock on the lease lasts as
 * long as the transaction.
 */
export async function claimEvents(tx: Transaction): Promise<QueuedEvent[]> {
  const queued = sql`
    delete from outbox
    where id in (select id from outbox order by id limit ${CLAIM_SIZE})
      and exists (select from lease)
    returning id, event_id, is_resend`;
  return await readQueued(tx, named('outbox_claim', withEvents(queued)));
}

/** Reads the rows behind a place, under the same lease. */
async function readEvents(tx: Transaction, after: bigint): Promise<QueuedEvent[]> {
  const queued = sql`
    select id, event_id, is_resend
    from outbox
    where id > ${after} and exists (select from lease)
    order by id
    limit ${CLAIM_SIZE}`;
  return await readQueued(tx, named('outbox_read', withEvents(queued)));
}

/**
 * Each event is looked up by its key: planned while the tables were still small, a join would read whole partitions for
 * ever.
 */
function withEvents(queued: Statement): Statement {
  return sql`
    with lease as (
      select name from leases where name = 'outbox-relay' for update skip locked
    ),
    queued as (${queued})
    select
      queued.id as place, is_resend as "isResend", event_id as "eventId", topic, key, type, sequence,
      coalesce(headers, '{}') as headers, message, traceparent,
      exists (
        select from dead_letters
        where consumer = ${OUTBOX_CONSUMER} and ${IS_OPEN}
          and dead_letters.topic = event.topic and dead_letters.key = event.key
      ) as "isHeld"
    from queued
    left join lateral (
      select topic, key, type, sequence, headers, message, traceparent
      from events
      where events.event_id = queued.event_id
      offset 0
    ) as event on true
    order by queued.id`;
}

async function readQueued(tx: Transaction, statement: Statement): Promise<QueuedEvent[]> {
  const rows = await tx.query<QueuedEvent>(statement);
  // Taking an id off the queue without its event would lose a message without a sound.
  assert(
    rows.every((row) => row.topic !== null),
    'a queued event is missing in events',
  );
  return rows;
}

async function takeOff(tx: Transaction, events: readonly QueuedEvent[]): Promise<void> {
  if (events.length === 0) return;
  const places = events.map(({ place }) => place);
  await tx.query(
    named('outbox_take_off', sql`delete from outbox where id = any (${places}::bigint[])`),
  );
}

/** Into the places that they had. */
async function putBack(
  tx: Transaction,
  events: readonly Pick<QueuedEvent, 'place' | 'eventId' | 'isResend'>[],
): Promise<void> {
  if (events.length === 0) return;
  const places = events.map(({ place }) => place);
  const ids = events.map(({ eventId }) => eventId);
  const resends = events.map(({ isResend }) => isResend);
  await tx.query(
    named(
      'outbox_put_back',
      sql`
        insert into outbox (id, event_id, is_resend) overriding system value
        select * from unnest(${places}::bigint[], ${ids}::uuid[], ${resends}::boolean[])
        on conflict (id) do nothing`,
    ),
  );
}

async function readOldestAge(db: Database): Promise<number> {
  const [row] = await db.query<{ age: number }>(
    named(
      'outbox_oldest_age',
      sql`
        select extract(epoch from now() - uuid_extract_timestamp(event_id))::float8 as age
        from outbox
        order by id
        limit 1`,
    ),
  );
  return Math.max(0, row?.age ?? 0);
}
