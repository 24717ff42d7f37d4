import { setTimeout as delay } from 'node:timers/promises';

import type { Queryable } from '@pixmesh/postgres/pool';

import { anApplication } from './an-application.ts';
import type { RunRecord } from './verify-deliveries.ts';
import { storeEndpoint } from './store-endpoint.ts';
import type { ResourceTopics } from './test-dispatcher.ts';

const ENDPOINTS_PER_APPLICATION = 2;
/** One event in so many also goes to the URL of its resource. */
const OWN_URL_EVERY = 5;
const OWN_HOSTS = 10;
const TICK_MS = 50;

type EventForAll = ReturnType<ReturnType<typeof anApplication>['anEvent']>;
/** Makes the event with this number, and names its destinations. */
type MakeEvent = (number: number) => { event: EventForAll; destinationIds: string[] };

/** Applications with two endpoints each, every one at a host of its own. */
export async function storeMerchants(db: Queryable, endpoints: number): Promise<MakeEvent> {
  const merchants = Array.from({ length: endpoints / ENDPOINTS_PER_APPLICATION }, () => ({
    application: anApplication(),
    endpointIds: new Array<string>(),
  }));
  for (let number = 0; number < endpoints; number += 1) {
    const { application, endpointIds } = merchants[number % merchants.length]!;
    const url = `http://e${number}.receiver.example.com/hook`;
    endpointIds.push((await storeEndpoint(db, { ...application.owner, url })).id);
  }
  return (number) => {
    const { application, endpointIds } = merchants[number % merchants.length]!;
    const hasUrl = number % OWN_URL_EVERY === 0;
    const url = hasUrl ? `http://own${number % OWN_HOSTS}.receiver.example.com/hook` : null;
    const event = application.anEvent({ url });
    const destinationIds = hasUrl ? [...endpointIds, event.data.id] : endpointIds;
    return { event, destinationIds };
  };
}

export type SteadyLoad = AsyncDisposable & {
  /** Resolves after it has gone on for so long. */
  goOn(ms: number): Promise<void>;
  /** Ends the load; answers every event that was published. */
  stop(): Promise<RunRecord['events']>;
};

/** Events on their way to the topic at once; the rest waits, as it does in an outbox. */
const PUBLISHING_MAX = 20;
const RETRY_MS = 500;
const TRIES_MAX = 60;

/** Publishes events at a steady rate, however long their readers take. */
export function startSteadyLoad(options: {
  topics: ResourceTopics;
  makeEvent: MakeEvent;
  perSecond: number;
}): SteadyLoad {
  const stopping = new AbortController();
  const { signal } = stopping;
  const published: RunRecord['events'][number][] = [];
  const running = run();
  const goOn = (ms: number) => delay(ms);
  return {
    goOn,
    stop,
    [Symbol.asyncDispose]: async () => void (await stop().catch(() => undefined)),
  };

  async function stop(): Promise<RunRecord['events']> {
    stopping.abort();
    await running;
    return published;
  }

  async function run(): Promise<void> {
    const startedMs = performance.now();
    let begun = 0;
    while (!signal.aborted) {
      const due = Math.floor(((performance.now() - startedMs) / 1_000) * options.perSecond);
      const count = Math.min(due - begun, PUBLISHING_MAX);
      const numbers = Array.from({ length: count }, (_, index) => begun + index);
      begun += count;
      await Promise.all(numbers.map(publish));
      await delay(TICK_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** As an outbox does it: until the topic has it, also where an answer is late and it has it twice. */
  async function publish(number: number): Promise<void> {
    const { event, destinationIds } = options.makeEvent(number);
    for (let tries = 1; ; tries += 1) {
      try {
        await options.topics.publish(event);
        published.push({ eventId: event.event_id, destinationIds, publishedMs: Date.now() });
        return;
      } catch (error) {
        // One that may have arrived must be known, so the load does not end before it has.
        if (tries === TRIES_MAX) throw error;
        await delay(RETRY_MS);
      }
    }
  }
}
