import {
  COMPARE_EVENTS_PATH,
  ComparedEvents,
  COMPARED_EVENTS_MAX,
} from '@pixmesh/contracts/internal/compare-events';
import type { InternalClient } from '@pixmesh/http/internal-client';
import { requestJson } from '@pixmesh/http/request-json';
import { NIL_ID, parseId, timeOfId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { queueAgain } from '@pixmesh/postgres/unanswered-commands';

import type { Check, FoundBreak, Scope } from './check.ts';
import { type EventsPage, readEventsPage } from './delivery-check.sql.ts';
import { LIST_SKEW_MS } from './list-pages.ts';

/** What a run goes back at most: as long as the topic would keep the event. */
const HORIZON_MS = 7 * 24 * 60 * 60 * 1000;

export type DeliveryCheckDeps = {
  db: Queryable;
  /** The owner's topic of events, and all types of it. */
  topic: string;
  types: readonly string[];
  dispatcher: InternalClient;
  /** An event that the dispatcher has not taken in for so long is published again. */
  healAfterMs: number;
  wakeOutbox(): void;
};

/**
 * Every dispatched event of an owner has its deliveries at the dispatcher, and every event there is the owner's. One
 * that was lost on its way is queued again, and shown until it has arrived.
 */
export function deliveryCheck(deps: DeliveryCheckDeps): Check {
  return { name: 'delivery', run };

  async function run(scope: Scope) {
    const missing: string[] = [];
    const unknown: string[] = [];
    let compared = 0;
    for await (const page of readPages(scope)) {
      scope.signal.throwIfAborted();
      compared += page.events.length;
      const found = await compare(page);
      missing.push(...found.missing);
      unknown.push(...found.unknown);
    }
    await heal(missing);
    return { compared, breaks: [...missing.map(toMissing), ...unknown.map(toUnknown)] };
  }

  /**
   * Everything since the watermark, by the ids of processes whose clocks may be behind it, and before that a page from
   * each difference on that an earlier run has found. One that is older than the horizon is compared no more, and ends.
   */
  async function* readPages({ since, knownIds }: Scope): AsyncGenerator<EventsPage> {
    const horizonMs = Date.now() - HORIZON_MS;
    const fromMs = Math.max((since?.getTime() ?? 0) - LIST_SKEW_MS, horizonMs);
    const known = knownIds
      .filter((id) => parseId(id) !== null && isBetween(timeOfId(id), horizonMs, fromMs))
      .toSorted();
    for (let after: string = NIL_ID; ;) {
      const next = known.find((id) => id > after);
      const nextMs = next === undefined ? fromMs : timeOfId(next).getTime();
      const page = await readEventsPage(deps.db, deps.topic, {
        after,
        since: new Date(nextMs - 1),
      });
      yield page;
      if (page.events.length < COMPARED_EVENTS_MAX) return;
      after = page.until;
    }
  }

  async function compare({ after, until, events }: EventsPage): Promise<ComparedEvents> {
    return await requestJson(deps.dispatcher, ComparedEvents, {
      service: 'webhook-dispatcher',
      route: `POST ${COMPARE_EVENTS_PATH}`,
      body: { after, until, types: deps.types, events },
    });
  }

  async function heal(missing: readonly string[]): Promise<void> {
    const lastMs = Date.now() - deps.healAfterMs;
    const lost = missing.filter((id) => timeOfId(id).getTime() < lastMs);
    if (lost.length === 0) return;
    await queueAgain(deps.db, lost);
    deps.wakeOutbox();
  }
}

function isBetween(time: Date, fromMs: number, untilMs: number): boolean {
  return time.getTime() >= fromMs && time.getTime() < untilMs;
}

function toMissing(id: string): FoundBreak {
  return { kind: 'missing_right', id, expected: 'delivery', changedAt: timeOfId(id) };
}

function toUnknown(id: string): FoundBreak {
  return { kind: 'missing_left', id, expected: 'event', changedAt: timeOfId(id) };
}
