import { setTimeout as delay } from 'node:timers/promises';

import { CHARGE_EVENTS } from '@pixmesh/contracts/messages/charge-event.v1';
import { accessOfFolder } from '@pixmesh/kafka/broker-access';
import { createEventPublisher, type EventPublisher } from '@pixmesh/kafka/event-publisher';
import { warmCodec } from '@pixmesh/kafka/schema-registry';
import { createLogger } from '@pixmesh/telemetry/logger';

import { aChargeEvent } from './a-charge-event.ts';
import { answerCalls } from '../child-calls.ts';
import { sharedNowMs, writeMark } from './event-mark.ts';
import { EVENT_TYPE, type MerchantEndpoint } from './merchant-endpoints.ts';
import type { SentEvents } from './phase-record.ts';
import { type Side, SIDES, TOPIC_PREFIXES } from './sides.ts';

/** How often what has fallen due is published; part of every latency, which counts from the intended time. */
const TICK_MS = 2;
const BATCH_MAX = 500;

/** Events of one phase, over these endpoints in turn. */
export type PhaseInput = { side: Side; phase: string; endpoints: readonly MerchantEndpoint[] };

export type ProducerCalls = {
  connect(input: { brokers: string[]; identity: string; registryUrl: string }): Promise<void>;
  /** At a steady rate, whatever becomes of them. */
  openLoop(input: PhaseInput & { rate: number; seconds: number }): Promise<PublishedOnTime>;
  /** Keeps `aheadMax` events published and not delivered, until `stop`. */
  backlog(input: PhaseInput & { aheadMax: number }): Promise<Published>;
  delivered(input: { count: number }): void;
  stop(input: object): void;
};

type Published = Pick<SentEvents, 'sent' | 'schedule'>;
/** How late the broker had acknowledged events, by their schedule: a part of every latency. */
type PublishedOnTime = Published & { publishP99Ms: number };

const publishers = new Map<Side, EventPublisher>();
const backlog = { delivered: 0, isStopped: false };

answerCalls<ProducerCalls>({
  connect: async ({ brokers, identity, registryUrl }) => {
    const codec = await warmCodec(registryUrl, [CHARGE_EVENTS[EVENT_TYPE]]);
    const logger = createLogger('bench', 'error');
    const options = { ...accessOfFolder(brokers, identity), clientId: 'bench', logger, codec };
    for (const side of SIDES) {
      const publisher = createEventPublisher({ ...options, topicPrefix: TOPIC_PREFIXES[side] });
      publisher.warmUp();
      publishers.set(side, publisher);
    }
  },
  openLoop: async ({ rate, seconds, ...phase }) => {
    const total = Math.round(rate * seconds);
    const schedule = { startMs: sharedNowMs(), perItemMs: 1000 / rate };
    const intendedMs = (number: number) => schedule.startMs + number * schedule.perItemMs;
    const lateMs: number[] = [];
    for (let next = 0; next < total;) {
      const dueByNow = Math.floor((sharedNowMs() - schedule.startMs) / schedule.perItemMs) + 1;
      const due = Math.min(total, next + BATCH_MAX, dueByNow);
      if (due > next) await publish(phase, { from: next, to: due, intendedMs });
      for (; next < due; next += 1) lateMs.push(sharedNowMs() - intendedMs(next));
      await delay(TICK_MS);
    }
    lateMs.sort((a, b) => a - b);
    return { sent: total, schedule, publishP99Ms: lateMs[Math.floor(total * 0.99)] ?? 0 };
  },
  backlog: async ({ aheadMax, ...phase }) => {
    Object.assign(backlog, { delivered: 0, isStopped: false });
    let sent = 0;
    while (!backlog.isStopped) {
      const to = Math.min(sent + BATCH_MAX, backlog.delivered + aheadMax);
      if (to > sent) await publish(phase, { from: sent, to, intendedMs: sharedNowMs });
      else await delay(TICK_MS);
      sent = Math.max(sent, to);
    }
    return { sent, schedule: null };
  },
  delivered: ({ count }) => {
    backlog.delivered = count;
  },
  stop: () => {
    backlog.isStopped = true;
  },
});

async function publish(
  { side, phase, endpoints }: PhaseInput,
  range: { from: number; to: number; intendedMs(number: number): number },
): Promise<void> {
  const events = Array.from({ length: range.to - range.from }, (_, offset) => {
    const number = range.from + offset;
    const endpoint = endpoints[number % endpoints.length];
    if (endpoint === undefined) throw new Error('no endpoints');
    const mark = { phase, number, intendedMs: range.intendedMs(number) };
    return aChargeEvent(endpoint, writeMark(mark));
  });
  await publishers.get(side)?.publishAll(events);
}
