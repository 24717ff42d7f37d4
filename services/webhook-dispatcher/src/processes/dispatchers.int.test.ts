import { COMPARE_EVENTS_PATH, ComparedEvents } from '@pixmesh/contracts/internal/compare-events';
import { Dispatchers, DISPATCHERS_PATH } from '@pixmesh/contracts/internal/dispatchers';
import { callOwner } from '@pixmesh/testkit/mesh-calls';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { freePorts } from '@pixmesh/testkit/free-ports';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { createTestTopics } from '@pixmesh/testkit/test-topics';
import { expect, test } from 'vitest';

import { aBacklog } from '#test/a-backlog.ts';
import { aChargeEvent } from '#test/a-charge-event.ts';
import { startDispatcherProcess } from '#test/dispatcher-process.ts';
import { openOperatorsApi } from '#test/open-operators-api.ts';
import { startReceiver } from '#test/start-receiver.ts';
import {
  openResourceTopics,
  sealingKeys,
  testConfig,
  testEnvironment,
} from '#test/test-dispatcher.ts';

import { startWebhookDispatcher } from '../service.ts';
import { listProcesses, type ProcessState, removeProcess, renewProcess } from './processes.sql.ts';

const TEST_TIMEOUT_MS = 90_000;

async function ask(port: number): Promise<Dispatchers> {
  const answer = await callOwner(target(port), { route: `GET ${DISPATCHERS_PATH}`, caller: null });
  expect(answer.status).toBe(200);
  return Dispatchers.parse(await answer.json());
}

/** Up to when the intake has handled all, as owners of events are told. */
async function handledUntil(port: number): Promise<number> {
  const body = { after: newId(), until: newId(), types: ['charge.pix.paid'], events: [] };
  const asked = { route: `POST ${COMPARE_EVENTS_PATH}`, caller: null, body };
  const answer = await callOwner(target(port), asked);
  return Date.parse(ComparedEvents.parse(await answer.json()).handled_until ?? '');
}

function target(port: number) {
  return { owner: 'webhook-dispatcher', url: `https://127.0.0.1:${port}` } as const;
}

test(
  'what waits is told also where no intake and no sender lives, and who delivers once they do',
  async () => {
    const { topicPrefix } = await createTestTopics();
    await using database = await createTestDatabase('webhook_dispatcher');
    await using receiver = await startReceiver();
    await using topic = await openResourceTopics(topicPrefix);
    const [port = 0] = await freePorts(1);
    const env = testEnvironment({
      databaseUrl: database.url,
      topicPrefix,
      receiverPort: receiver.port,
    });
    await aBacklog(database.db, { laneId: newId(), count: 1, dueInMs: -60_000 });
    const beforeMs = Date.now();
    for (let number = 0; number < 3; number += 1) {
      await topic.publish(
        aChargeEvent({ secret: { clear: 'x', publicKey: sealingKeys.publicKey } }),
      );
    }
    await using api = await startDispatcherProcess({ ...env, ROLES: 'api', PORT: String(port) });
    await eventually(async () => {
      const { processes, backlog } = await ask(port);
      expect(processes).toMatchObject([{ roles: ['api'], lanes: null, slots: null }]);
      expect(backlog).toMatchObject({ events_waiting: 3, lanes_waiting: 1 });
      expect(backlog.oldest_waiting_seconds).toBeGreaterThan(59);
    });
    expect(await handledUntil(port)).toBeLessThan(beforeMs);
    expect(await api.readCounter('webhook_waiting_events')).toBe(3);
    expect(await api.readCounter('webhook_due_lanes')).toBe(1);

    const others = { ...env, ROLES: 'intake,sender', PORT: '0' };
    await using _working = await startWebhookDispatcher(testConfig(others));
    await eventually(async () => {
      const { processes, backlog } = await ask(port);
      expect(processes.map(({ roles }) => roles)).toContainEqual(['intake', 'sender']);
      const sender = processes.find(({ slots }) => slots !== null);
      expect(sender).toMatchObject({ pid: process.pid, slots: 640, slots_used: 0 });
      expect(sender?.lanes).toBeGreaterThanOrEqual(0);
      expect(backlog).toMatchObject({ events_waiting: 0, lanes_waiting: 0 });
      expect(await handledUntil(port)).toBeGreaterThan(beforeMs);
    }, 30_000);
  },
  TEST_TIMEOUT_MS,
);

test('a process is shown while it renews its row, and no longer once it has stopped or died', async () => {
  await using database = await createTestDatabase('webhook_dispatcher');
  const { db } = database;
  const aProcess = (changes: Partial<ProcessState> = {}): ProcessState => ({
    id: newId(),
    host: 'one',
    pid: 7,
    roles: ['sender'],
    startedAt: new Date(),
    cpuShare: 0.5,
    sender: { lanes: 1, slotsUsed: 2, slotsMax: 3 },
    ...changes,
  });
  const [living, stopped, dead] = [aProcess(), aProcess(), aProcess()];
  expect(await renewProcess(db, stopped)).toEqual([]);
  await renewProcess(db, dead);
  await removeProcess(db, stopped.id);
  expect(await renewProcess(db, living)).toEqual([{ ...dead.sender, cpuShare: 0.5 }]);
  await db.query(
    sql`update processes set seen_at = now() - interval '31 seconds' where id = ${dead.id}`,
  );
  expect(await renewProcess(db, { ...living, cpuShare: 1 })).toEqual([]);
  const shown = await listProcesses(db);
  expect(shown).toMatchObject([{ id: living.id, cpuShare: 1, lanes: 1, slotsUsed: 2 }]);
  expect(await db.query(sql`select id from processes`)).toHaveLength(1);
});

test('operators see whose events are set aside', async () => {
  await using database = await createTestDatabase('webhook_dispatcher');
  await using api = await openOperatorsApi(database.db);
  const accountId = newId();
  await database.db.query(sql`
    insert into set_aside_events (
      account_id, event_id, type, resource_id, source, sequence, occurred_at, has_own_url, body_rest
    )
    values (${accountId}, ${newId()}, 'charge.pix.created', ${newId()}, 'api', 1, now(), false, '')`);
  const { body } = await api.call(`GET ${DISPATCHERS_PATH}`);
  expect(Dispatchers.parse(body).backlog.accounts_set_aside).toMatchObject([
    { account_id: accountId, events: 1 },
  ]);
});

test('a tenant is told nothing of it', async () => {
  await using database = await createTestDatabase('webhook_dispatcher');
  await using api = await openOperatorsApi(database.db);
  const caller = { account_id: newId(), application_id: newId() } as never;
  expect((await api.call(`GET ${DISPATCHERS_PATH}`, undefined, caller)).status).toBe(401);
});
