import {
  COMPARE_EVENTS_PATH,
  ComparedEvents,
  COMPARED_EVENTS_MAX,
} from '@pixmesh/contracts/internal/compare-events';
import type { InternalClient } from '@pixmesh/http/internal-client';
import { requestJson } from '@pixmesh/http/request-json';
import { parseId, timeOfId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { queueAgain } from '@pixmesh/postgres/unanswered-commands';

import type { Check, FoundBreak, Scope } from './check.ts';
import { type EventsPage, readEventsPage } from './delivery-check.sql.ts';

/** What a full run goes back: as long as the topic would keep the event. */
const FULL_MS = 7 * 24 * 60 * 60 * 1000;

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
    let page: EventsPage | null = await firstPage(scope);
    for (; page !== null; page = await nextPage(page)) {
      scope.signal.throwIfAborted();
      compared += page.events.length;
      const found = await compare(page);
      missing.push(...found.missing);
      unknown.push(...found.unknown);
    }
    await heal(missing);
    return { compared, breaks: [...missing.map(toMissing), ...unknown.map(toUnknown)] };
  }

  async function firstPage({ since, knownIds }: Scope): Promise<EventsPage> {
    const known = knownIds.filter((id) => parseId(id) !== null).map((id) => timeOfId(id).getTime());
    const fromMs = Math.min(since?.getTime() ?? Date.now() - FULL_MS, ...known);
    return await readEventsPage(deps.db, deps.topic, { since: new Date(Math.max(0, fromMs - 1)) });
  }

  async function nextPage({ events, until }: EventsPage): Promise<EventsPage | null> {
    if (events.length < COMPARED_EVENTS_MAX) return null;
    return await readEventsPage(deps.db, deps.topic, { after: until });
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

function toMissing(id: string): FoundBreak {
  return { kind: 'missing_right', id, expected: 'delivery', changedAt: timeOfId(id) };
}

function toUnknown(id: string): FoundBreak {
  return { kind: 'missing_left', id, expected: 'event', changedAt: timeOfId(id) };
}
