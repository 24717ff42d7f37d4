import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { createTestTopics } from '@pixmesh/testkit/test-topics';
import { expect, test } from 'vitest';

import { anApplication } from '#test/an-application.ts';
import { startDispatcherProcess } from '#test/dispatcher-process.ts';
import { readStoredDeliveries } from '#test/stored-deliveries.ts';
import { storeEndpoint } from '#test/store-endpoint.ts';
import { openResourceTopics, testEnvironment } from '#test/test-dispatcher.ts';

const EVENTS = 60;
/** So many that a batch has more deliveries than the share of an account. */
const ENDPOINTS = 100;
/** Two starts of a process, on a machine that runs other tests as well. */
const TEST_TIMEOUT_MS = 120_000;
/** A member that died is missed by its group only when its session ends. */
const REJOIN_TIMEOUT_MS = 60_000;
/** A closed port: nothing is sent. */
const NO_RECEIVER = 9;

function intakeEnvironment(databaseUrl: string, topicPrefix: string): NodeJS.ProcessEnv {
  return {
    ...testEnvironment({ databaseUrl, topicPrefix, receiverPort: NO_RECEIVER }),
    ROLES: 'intake',
  };
}

test(
  'an intake that dies right behind a commit, before it woke a sender, leaves nothing out and nothing twice',
  async () => {
    const { topicPrefix } = await createTestTopics();
    await using database = await createTestDatabase('webhook_dispatcher');
    const { db } = database;
    await using topic = await openResourceTopics(topicPrefix);
    const env = intakeEnvironment(database.url, topicPrefix);
    const application = anApplication();
    await storeEndpoint(db, application.owner);
    const url = 'http://own.receiver.example.com/hook';
    const events = Array.from({ length: EVENTS }, () => application.anEvent({ url }));

    await using first = await startDispatcherProcess(env);
    await first.armFailpoint('webhooks.intake.after-commit', 'kill');
    for (const event of events) await topic.publish(event);
    expect(await first.ended()).toBe('SIGKILL');
    // What was committed is complete and awake, though no sender was woken.
    const [left] = await db.query<{ events: number; queued: number; asleep: number }>(sql`
      select
        (select count(*)::int from events) as events,
        (select count(*)::int from queue) as queued,
        (select count(*)::int from lanes where claimable_at > now() and id in (select lane_id from queue)) as asleep`);
    expect(left?.events).toBeGreaterThan(0);
    expect(left).toMatchObject({ queued: 2 * (left?.events ?? 0), asleep: 0 });

    await using second = await startDispatcherProcess(env);
    await eventually(async () => {
      const written = await Promise.all(
        events.map(({ event_id }) => readStoredDeliveries(db, event_id)),
      );
      expect(written.map((deliveries) => deliveries.length)).toEqual(Array(EVENTS).fill(2));
      expect(written.flat().every(({ isQueued }) => isQueued)).toBe(true);
    }, REJOIN_TIMEOUT_MS);
    const rows = await db.query(sql`select count(*)::int as count from queue`);
    expect(rows).toEqual([{ count: 2 * EVENTS }]);
    expect(await second.stop()).toBe(0);
  },
  TEST_TIMEOUT_MS,
);

test(
  'an intake that dies right after it has set events aside leaves nothing out and nothing twice',
  async () => {
    const { topicPrefix } = await createTestTopics();
    await using database = await createTestDatabase('webhook_dispatcher');
    const { db } = database;
    await using topic = await openResourceTopics(topicPrefix);
    const env = intakeEnvironment(database.url, topicPrefix);
    const application = anApplication();
    for (let count = 0; count < ENDPOINTS; count += 1) await storeEndpoint(db, application.owner);
    const events = Array.from({ length: EVENTS }, () => application.anEvent());

    await using first = await startDispatcherProcess(env);
    await first.armFailpoint('webhooks.intake.after-set-aside', 'kill');
    // At once, so that they come faster than they are stored.
    await Promise.all(events.map((event) => topic.publish(event)));
    expect(await first.ended()).toBe('SIGKILL');
    const [left] = await db.query<{ setAside: number }>(
      sql`select count(*)::int as "setAside" from set_aside_events`,
    );
    expect(left!.setAside).toBeGreaterThan(0);

    await using second = await startDispatcherProcess(env);
    await eventually(async () => {
      const written = await Promise.all(
        events.map(({ event_id }) => readStoredDeliveries(db, event_id)),
      );
      expect(written.map((deliveries) => deliveries.length)).toEqual(Array(EVENTS).fill(ENDPOINTS));
      expect(await db.query(sql`select from set_aside_events`)).toEqual([]);
    }, REJOIN_TIMEOUT_MS);
    const rows = await db.query(sql`select count(*)::int as count from queue`);
    expect(rows).toEqual([{ count: ENDPOINTS * EVENTS }]);
    expect(await second.stop()).toBe(0);
  },
  TEST_TIMEOUT_MS,
);
