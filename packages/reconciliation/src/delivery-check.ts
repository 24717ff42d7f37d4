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

import type { Check, CheckOutcome, FoundBreak, Scope } from './check.ts';
import { BREAKS_MAX } from './choose-kept.ts';
import { type EventsPage, readEventsPage } from './delivery-check.sql.ts';

/** What a run goes back at most: as long as the topic would keep the event. */
const HORIZON_MS = 7 * 24 * 60 * 60 * 1000;
/** Events that one comparison queues again: half a second of the relay, in which commands wait behind them. */
const HEALED_MAX = BREAKS_MAX;
/**
 * An intake that leaves an event unread for longer is behind: what was queued again may wait for it. Shorter than from
 * one run to the next, so that no run queues again what the one before did and the intake has not read.
 */
const BEHIND_MS = 30_000;

export type DeliveryCheckDeps = {
  db: Queryable;
  /** The owner's topic of events, and all types of it. */
  topic: string;
  types: readonly string[];
  dispatcher: InternalClient;
  /** An event is missing once the intake has handled what was published so long after it was written. */
  healAfterMs: number;
  wakeOutbox(): void;
};

/**
 * Every dispatched event of an owner has its deliveries at the dispatcher, and every event there is the owner's. One
 * that was lost on its way is shown until it has arrived, and queued again once a second comparison finds it missing
 * too: the oldest first, and none while the intake is behind. What the intake has not read yet is not missing.
 */
export function deliveryCheck(deps: DeliveryCheckDeps): Check {
  return { name: 'delivery', run };

  async function run(scope: Scope): Promise<CheckOutcome> {
    const known = new Set(scope.knownIds);
    const lastKnown = scope.knownIds.toSorted().at(-1) ?? NIL_ID;
    const [missing, unknown] = [createFindings(known), createFindings(known)];
    let [compared, healed] = [0, 0];
    let comparedUntil: Date | undefined;
    for await (const page of readPages(scope)) {
      scope.signal.throwIfAborted();
      compared += page.events.length;
      const found = await compare(page);
      const until = (comparedUntil ??= new Date(found.handledUntilMs - deps.healAfterMs));
      missing.add(found.missing.filter((id) => known.has(id) || timeOfId(id) < until));
      unknown.add(found.unknown);
      const lost = found.missing.filter((id) => known.has(id)).slice(0, HEALED_MAX - healed);
      healed += await heal(lost, found);
      // Behind that only what was found before is compared.
      if (timeOfId(page.until) >= until && page.until > lastKnown) break;
    }
    const breaks = [...missing.ids.map(toMissing), ...unknown.ids.map(toUnknown)];
    return { compared, breaks, comparedUntil };
  }

  /**
   * Everything since the watermark, and before it a page from each difference on that an earlier run has found. One
   * that is older than the horizon is compared no more, and ends.
   */
  async function* readPages({ since, knownIds }: Scope): AsyncGenerator<EventsPage> {
    const horizonMs = Date.now() - HORIZON_MS;
    const fromMs = Math.max(since?.getTime() ?? 0, horizonMs);
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

  async function compare({ after, until, events }: EventsPage) {
    const answer = await requestJson(deps.dispatcher, ComparedEvents, {
      service: 'webhook-dispatcher',
      route: `POST ${COMPARE_EVENTS_PATH}`,
      body: { after, until, types: deps.types, events },
    });
    const { missing, unknown, handled_until: handledUntil } = answer;
    const handledUntilMs = handledUntil === null ? Date.now() : Date.parse(handledUntil);
    return { missing, unknown, handledUntilMs };
  }

  /** Returns how many were queued. */
  async function heal(
    lost: readonly string[],
    { handledUntilMs }: { handledUntilMs: number },
  ): Promise<number> {
    const isBehind = Date.now() - handledUntilMs > BEHIND_MS;
    if (isBehind || lost.length === 0) return 0;
    const queued = await queueAgain(deps.db, lost);
    deps.wakeOutbox();
    return queued;
  }
}

/** What was known, and of all else one more than is kept: from then on it is known that there are too many. */
function createFindings(known: ReadonlySet<string>) {
  const ids: string[] = [];
  return {
    ids,
    add(found: readonly string[]): void {
      for (const id of found) if (ids.length <= BREAKS_MAX || known.has(id)) ids.push(id);
    },
  };
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
