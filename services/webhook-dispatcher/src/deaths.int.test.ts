import { hash } from 'node:crypto';

import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { startBrokerProxy } from '@pixmesh/testkit/broker-proxy';
import { eventually } from '@pixmesh/testkit/eventually';
import { isLong, scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { testInfra } from '@pixmesh/testkit/test-infra';
import { testSeed } from '@pixmesh/testkit/test-seed';
import { createTestTopics } from '@pixmesh/testkit/test-topics';
import { expect, test } from 'vitest';

import { startDispatcherFleet } from '#test/dispatcher-fleet.ts';
import {
  verifyDeliveries,
  PICK_UP_MS_MAX,
  type RecordedDelivery,
  type RunRecord,
  type Verdict,
} from '#test/verify-deliveries.ts';
import { startRecordingReceiver } from '#test/recording-receiver.ts';
import { startSteadyLoad, storeMerchants } from '#test/steady-load.ts';
import { openResourceTopics, testEnvironment } from '#test/test-dispatcher.ts';

const SENDERS = 2;
const ENDPOINTS = 50;
const EVENTS_PER_SECOND = scaled(15, 20);
const KILLS_BEFORE_OUTAGE = scaled(1, 25);
const KILLS_AFTER_OUTAGE = scaled(0, 25);
/** From a kill to the next one: mostly while the one before is still starting again. */
const PAUSE_MS_MIN = 300;
const PAUSE_MS_MAX = 5_000;
/** A death of intake is followed by some seconds in which its group misses it, and nothing is sent. */
const LOAD_MS_MAX = 15_000;
const OUTAGE_MS = scaled(3_000, 60_000);
/** Retries come after a minute, so that they are part of the long run only. */
const FAILING_SHARE = scaled(0, 0.02);
/** Until all is delivered, retries included. */
const DRAIN_MS_MAX = scaled(60_000, 180_000);
const TEST_TIMEOUT_MS = scaled(240_000, 1_800_000);

/** PIXMESH_TEST_SEED repeats the choice of who dies, and when. */
const seed = String(testSeed());

test(
  'processes that are killed at any instant, and a broker that is away, lose nothing and repeat only what was in flight',
  async () => {
    const { topicPrefix } = await createTestTopics();
    await using database = await createTestDatabase('webhook_dispatcher');
    await using receiver = await startRecordingReceiver({
      senders: SENDERS,
      failingShare: FAILING_SHARE,
    });
    await using topics = await openResourceTopics(topicPrefix);
    const [address = ''] = testInfra().kafkaBrokers;
    await using broker = await startBrokerProxy(address, 'webhook-dispatcher');
    const makeEvent = await storeMerchants(database.db, ENDPOINTS);
    await using fleet = await startDispatcherFleet(
      [null, ...receiver.ports.keys()].map((sender) => ({ sender, env: environmentOf(sender) })),
    );
    await using load = startSteadyLoad({ topics, makeEvent, perSecond: EVENTS_PER_SECOND });

    await killMany(KILLS_BEFORE_OUTAGE, 'before');
    const outage = await loseBroker();
    if (KILLS_AFTER_OUTAGE > 0) {
      // Long enough that the kills that follow excuse no late pick-up after the outage.
      await load.goOn(PICK_UP_MS_MAX);
      await killMany(KILLS_AFTER_OUTAGE, 'after');
    }
    const events = await load.stop();
    const expected = events.flatMap(({ destinationIds }) => destinationIds).length;
    // What is missing after this time is for `verifyDeliveries` to name.
    await eventually(() => isDrained(database.db, expected), DRAIN_MS_MAX).catch(() => undefined);
    const record = {
      events,
      deliveries: await readDeliveries(database.db),
      posts: await receiver.posts(),
      deaths: fleet.deaths,
      outages: [outage],
      counts: await fleet.readCounts(),
    };
    const verdict = verifyDeliveries(record);
    print(record, verdict, fleet.ownEnds());

    // A repeat of what was not in flight at a death is a fault of its own: a post without an attempt.
    expect(verdict.faults.slice(0, 20)).toEqual([]);
    expect(fleet.deaths.length).toBeGreaterThanOrEqual(KILLS_BEFORE_OUTAGE + KILLS_AFTER_OUTAGE);
    if (isLong)
      expect(Math.max(...verdict.perDeath.map(({ inFlight }) => inFlight))).toBeGreaterThan(0);
    expect(verdict.pickUpMs).toBeLessThanOrEqual(PICK_UP_MS_MAX);

    /** Each sender has a port of the receiver for itself; only intake comes through the broker's proxy. */
    function environmentOf(sender: number | null): NodeJS.ProcessEnv {
      const receiverPort = receiver.ports[sender ?? 0] ?? 0;
      const { ROLES: _all, ...env } = testEnvironment({
        databaseUrl: database.url,
        topicPrefix,
        receiverPort,
      });
      const roles = sender === null ? 'intake' : 'sender';
      return { ...env, LOG_LEVEL: 'warn', KAFKA_BROKERS: broker.broker, ROLES: roles };
    }

    async function killMany(count: number, phase: string): Promise<void> {
      for (let number = 0; number < count; number += 1) {
        const [pause, victim] = [`pause ${phase} ${number}`, `victim ${phase} ${number}`].map(draw);
        await load.goOn(PAUSE_MS_MIN + pause! * (PAUSE_MS_MAX - PAUSE_MS_MIN));
        if (number % 2 === 0) await untilUnderLoad();
        await fleet.killOne(victim!);
      }
      await fleet.untilReady();
    }

    /** Every other kill meets requests in flight; the rest come as they fall. */
    async function untilUnderLoad(): Promise<void> {
      await eventually(
        async () => expect(await receiver.open()).toBeGreaterThan(SENDERS),
        LOAD_MS_MAX,
      ).catch(() => undefined);
    }

    async function loseBroker(): Promise<{ fromMs: number; toMs: number }> {
      const fromMs = Date.now();
      broker.cut();
      await load.goOn(OUTAGE_MS);
      broker.mend();
      return { fromMs, toMs: Date.now() };
    }
  },
  TEST_TIMEOUT_MS,
);

/** Between 0 and 1, alike in every run of one seed. */
function draw(name: string): number {
  return hash('sha256', `${seed} ${name}`, 'buffer').readUInt32BE(0) / 2 ** 32;
}

async function isDrained(db: Database, expected: number): Promise<void> {
  const [row] = await db.query<{ stored: number; queued: number }>(sql`
    select
      (select count(*)::int from deliveries) as stored,
      (select count(*)::int from queue) as queued`);
  expect(row).toEqual({ stored: expected, queued: 0 });
}

async function readDeliveries(db: Database): Promise<RecordedDelivery[]> {
  return await db.query<RecordedDelivery>(sql`
    select
      id, event_id as "eventId", destination_id as "destinationId", lane_id as "laneId", status,
      array(
        select outcome from attempts where delivery_id = deliveries.id order by started_at, attempts.id
      ) as attempts
    from deliveries`);
}

function print(record: RunRecord, verdict: Verdict, ownEnds: number): void {
  const { perDeath, extraPosts, pickUpMs, faults } = verdict;
  const inFlight = perDeath.map((death) => death.inFlight);
  const line = [
    `seed ${seed}: ${record.events.length} events, ${record.deliveries.length} deliveries`,
    `${record.posts.length} posts, ${record.deaths.length} deaths (${perDeath.length} of senders)`,
    `ended by themselves ${ownEnds}, broker away for ${OUTAGE_MS} ms`,
    `extra posts ${extraPosts} of at most ${inFlight.reduce((sum, count) => sum + count, 0)}`,
    `per death ${perDeath.map((death) => `${death.extra}/${death.inFlight}`).join(' ')}`,
    `counted repeats ${record.counts.reduce((sum, count) => sum + count.repeats, 0)}`,
    `longest pick-up ${(pickUpMs / 1_000).toFixed(1)} s, faults ${faults.length}`,
  ].join('; ');
  process.stdout.write(`${line}\n`);
}
