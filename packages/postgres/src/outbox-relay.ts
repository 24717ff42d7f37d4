import {
  type NextTurn,
  type PollingLoop,
  startPollingLoop,
  type TurnContext,
} from '@pixmesh/service/polling-loop';
import type { WakeSignal } from '@pixmesh/service/wake-signal';
import type { Logger } from '@pixmesh/telemetry/logger';
import { counter, observedGauge } from '@pixmesh/telemetry/metrics';

import { parkMessage } from './dead-letters.ts';
import type { OutboundEvent } from './events.ts';
import {
  BATCH_SIZE,
  claimEvents,
  countQueueVersion,
  hasQueuedEvents,
  OUTBOX_CONSUMER,
  requeue,
  type QueuedEvent,
  readEvents,
  readOldestAge,
  deletePublished,
} from './outbox-queue.sql.ts';
import { readHeldKeys } from './parked-events.ts';
import type { Database, Transaction } from './pool.ts';

/**
 * From the beginning of a publication to that of the next one at least: a broker request and three round trips to the
 * database cost the same for one event and for a hundred. The first event after a quiet moment does not wait.
 */
const GATHER_MS = 10;
/** Finds what another process committed and did not live to notify. */
const POLL_INTERVAL_MS = 500;
/** What a stop still publishes of the queue; the rest waits for the next process. */
const DRAIN_MS_MAX = 3_000;

export type PublishableEvent = OutboundEvent & { traceparent: string | null; isResend?: boolean };

/** What a publication left over; all other events of it are durable at the broker. */
export type Unpublished = {
  /** Ids of events that do not fit their schema, each with the reason. */
  invalid: ReadonlyMap<string, string>;
  /** Ids of events that the broker does not take now, and of those behind an invalid event of their key. */
  postponed: ReadonlySet<string>;
};

/**
 * Hands a batch to the broker. It has to end, one way or the other, before the database ends a transaction that sits
 * idle (12 s). It throws where the broker takes nothing at all.
 */
export type Publish = (events: readonly PublishableEvent[]) => Promise<Unpublished>;

/** Places in the queue begin at 1. */
const QUEUE_START = 0n;
const NOTHING_LEFT: Unpublished = { invalid: new Map(), postponed: new Set() };

/** What goes in order: the events of one key of a topic. */
type OrderingKey = Pick<QueuedEvent, 'topic' | 'key'>;

/** A pass over the queue, batch by batch. */
export type Pass = {
  /** Where the next batch is read; null where nothing waits, and the oldest are claimed. */
  after: bigint | null;
  /** Ordering keys of which an event waits before that place, or was held when it was read: later events wait too. */
  waiting: ReadonlySet<string>;
  /** What was committed when the pass began. What came later may follow an event at a place that was read before. */
  snapshot: string | null;
};

const CLAIMING: Pass = { after: null, waiting: new Set(), snapshot: null };
/** Some events wait. */
export const FROM_START: Pass = { ...CLAIMING, after: QUEUE_START };

type RelayDeps = { db: Database; publish: Publish; logger: Logger };

const parked = counter(
  'outbox_events_parked_total',
  'Events that cannot be published as they are',
  [],
);

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
  const pollMs = signal.pollMs ?? POLL_INTERVAL_MS;
  let isMoreQueued = false;
  let pass = CLAIMING;
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
      return { pauseMs: pollMs };
    }
    isMoreQueued = false;
    const batch = await relayOnce(deps, pass);
    isMoreQueued = batch.read === BATCH_SIZE;
    pass = batch.next;
    if (isMoreQueued) return { pauseMs: 0 };
    return { pauseMs: pollMs, gatherMs: batch.taken > 0 ? GATHER_MS : 0 };
  }
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

/** How many events a batch read, how many left the queue (published or parked), and how it goes on. */
type Batch = { read: number; taken: number; next: Pass };

/**
 * Publishes one batch. While all goes well the whole batch is claimed; while some events have to wait it is read from a
 * place on, and only what goes is taken off: a queue that waits is not written again and again.
 */
export async function relayOnce(deps: RelayDeps, pass: Pass = CLAIMING): Promise<Batch> {
  return await deps.db.transaction(async (tx) => {
    const { after, waiting, snapshot } = pass;
    const rows = after === null ? await claimEvents(tx) : await readEvents(tx, after, snapshot);
    const events = firstOfEach(
      rows.filter((row) => !row.isHeld && !row.isLate && !waiting.has(orderingKeyOf(row))),
    );
    const left = events.length === 0 ? NOTHING_LEFT : await deps.publish(events);
    const taken = events.filter(({ eventId }) => !left.postponed.has(eventId));
    for (const event of taken) {
      const reason = left.invalid.get(event.eventId);
      if (reason !== undefined) await parkEvent(deps, tx, { event, reason });
    }
    const gone = new Set(taken);
    const stay = rows.filter((row) => !gone.has(row));
    await (after === null ? requeue(tx, stay) : deletePublished(tx, taken));
    // Of a claim that is published as a whole nobody can miss anything.
    const mayBeMissed =
      after === null ? stay.length > 0 || left.invalid.size > 0 : taken.length > 0;
    if (mayBeMissed) await countQueueVersion(tx);
    return {
      read: rows.length,
      taken: taken.length,
      next: await nextPass(tx, pass, { rows, stay }),
    };
  });
}

/** An event may be queued twice: its second place waits for the next pass, and until it is known what becomes of the first. */
function firstOfEach(events: readonly QueuedEvent[]): QueuedEvent[] {
  const ids = new Set<string>();
  return events.filter(({ eventId }) => !ids.has(eventId) && ids.add(eventId));
}

/**
 * What waits does not stand in the way of what is behind it: a pass goes on to the end of the queue, and only then is
 * what waits tried again. However much waits, all that was queued when a pass began leaves in that pass.
 */
async function nextPass(
  tx: Transaction,
  pass: Pass,
  { rows, stay }: { rows: readonly QueuedEvent[]; stay: readonly QueuedEvent[] },
): Promise<Pass> {
  const isAtStart = pass.after === null || pass.after === QUEUE_START;
  const last = rows.at(-1);
  if (isAtStart && stay.length === 0) return CLAIMING;
  if (last === undefined || rows.length < BATCH_SIZE) return FROM_START;
  // Who releases a held key waits for this transaction, so its later events are behind what it has read.
  const held = await readHeldKeys(tx);
  return {
    after: last.place,
    waiting: new Set([...pass.waiting, ...[...held, ...stay].map(orderingKeyOf)]),
    snapshot: pass.snapshot ?? last.snapshot,
  };
}

function orderingKeyOf({ topic, key }: OrderingKey): string {
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
