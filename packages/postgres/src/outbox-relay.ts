import assert from 'node:assert';

import {
  type NextTurn,
  type PollingLoop,
  startPollingLoop,
  type TurnContext,
} from '@pixmesh/service/polling-loop';
import type { WakeSignal } from '@pixmesh/service/wake-signal';
import type { Logger } from '@pixmesh/telemetry/logger';
import { observedGauge } from '@pixmesh/telemetry/metrics';

import type { OutboundEvent } from './events.ts';
import type { Database, Transaction } from './pool.ts';
import { named, sql } from './sql.ts';

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

export type PublishableEvent = OutboundEvent & { traceparent: string | null };

/**
 * Hands a batch to the broker and resolves when all of it is durable there. It has to end, one way or the
 * other, before the database ends a transaction that sits idle (15 s).
 */
export type Publish = (events: readonly PublishableEvent[]) => Promise<void>;

type RelayDeps = { db: Database; publish: Publish; logger: Logger };

/**
 * Moves committed events to the broker, in order per key and at least once. A claim deletes rows in a
 * transaction that stays open while the broker is asked, so a crash or an error puts them back. One relay of
 * a service works at a time: the lease's row lock belongs to the claim's own transaction. Disposing it
 * publishes what is queued, within a bound.
 */
export function startOutboxRelay(deps: RelayDeps & { signal: WakeSignal }): PollingLoop {
  const { db, logger, signal } = deps;
  let isMoreQueued = false;
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
    const published = await relayOnce(deps);
    isMoreQueued = published === CLAIM_SIZE;
    if (isMoreQueued) return { pauseMs: 0 };
    const gatherMs = published >= BUSY_BATCH_MIN ? BUSY_INTERVAL_MS : 0;
    return { pauseMs: POLL_INTERVAL_MS, gatherMs };
  }
}

/** A broker that is away at a stop is not waited for: the events stay queued. */
async function drain(deps: RelayDeps): Promise<void> {
  const end = performance.now() + DRAIN_MS_MAX;
  try {
    while ((await relayOnce(deps)) > 0 && performance.now() < end);
  } catch (error) {
    deps.logger.warn({ err: error }, 'outbox not drained: events stay queued');
  }
}

/** Publishes one batch; answers how many events it held. */
export async function relayOnce(deps: { db: Database; publish: Publish }): Promise<number> {
  return await deps.db.transaction(async (tx) => {
    const events = await claimEvents(tx);
    if (events.length > 0) await deps.publish(events);
    return events.length;
  });
}

/** By primary key: a plain scan would read the deleted rows that wait for vacuum, again and again. */
async function hasQueuedEvents(db: Database): Promise<boolean> {
  const rows = await db.query(named('outbox_peek', sql`select from outbox order by id limit 1`));
  return rows.length > 0;
}

/**
 * Takes the oldest rows, if no other relay of the service holds the lease. The row lock on the lease lasts as
 * long as the transaction. Each event is looked up by its key: planned while the tables were still small, a
 * join would read whole partitions for ever.
 */
export async function claimEvents(tx: Transaction): Promise<PublishableEvent[]> {
  const rows = await tx.query<PublishableEvent>(
    named(
      'outbox_claim',
      sql`
        with lease as (
          select name from leases where name = 'outbox-relay' for update skip locked
        ),
        claimed as (
          delete from outbox
          where id in (select id from outbox order by id limit ${CLAIM_SIZE})
            and exists (select from lease)
          returning id, event_id
        )
        select event_id as "eventId", topic, key, type, sequence, coalesce(headers, '{}') as headers, message, traceparent
        from claimed
        left join lateral (
          select topic, key, type, sequence, headers, message, traceparent
          from events
          where events.event_id = claimed.event_id
          offset 0
        ) as event on true
        order by claimed.id`,
    ),
  );
  // Deleting an id without its event would lose a message without a sound.
  assert(
    rows.every((row) => row.topic !== null),
    'a queued event is missing in events',
  );
  return rows;
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
