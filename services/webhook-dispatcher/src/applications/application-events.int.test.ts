import type { AccountLimitsChanged } from '@pixmesh/contracts/messages/account-event.v1';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { createTestTopics } from '@pixmesh/testkit/test-topics';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { findRate } from '#rates/delivery-rates.sql.ts';
import { databaseClock } from '#schedule-clock.ts';
import { startWebhookDispatcher, type WebhookDispatcher } from '#service.ts';
import { anApplication, type TestApplication } from '#test/an-application.ts';
import { untilDelivery } from '#test/listed-deliveries.ts';
import { type Receiver, startReceiver } from '#test/start-receiver.ts';
import { storeEndpoint } from '#test/store-endpoint.ts';
import {
  openResourceTopics,
  type ResourceTopics,
  testConfig,
  testEnvironment,
} from '#test/test-dispatcher.ts';

let database: TestDatabase;
let receiver: Receiver;
let topics: ResourceTopics;
let dispatcher: WebhookDispatcher;

beforeAll(async () => {
  const { topicPrefix } = await createTestTopics();
  [database, receiver, topics] = await Promise.all([
    createTestDatabase('webhook_dispatcher'),
    startReceiver(),
    openResourceTopics(topicPrefix),
  ]);
  dispatcher = await startDispatcher(database, topicPrefix);
});
afterAll(async () => {
  await dispatcher[Symbol.asyncDispose]();
  await topics[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function startDispatcher(
  { url: databaseUrl }: TestDatabase,
  topicPrefix: string,
): Promise<WebhookDispatcher> {
  const options = { databaseUrl, topicPrefix, receiverPort: receiver.port };
  return await startWebhookDispatcher(testConfig(testEnvironment(options)));
}

async function untilStored({ owner }: TestApplication, state: object): Promise<void> {
  await eventually(async () => {
    const rows = await database.db.query(
      sql`select active, version from applications where application_id = ${owner.applicationId}`,
    );
    expect(rows).toEqual([state]);
  }, 30_000);
}

/** So long ago that no difference between clocks matters. */
function secondsAgo(seconds: number): string {
  return new Date(Date.now() - seconds * 1_000).toISOString();
}

function aLimitsChange(
  accountId: string,
  max: number | null,
  version: number,
): AccountLimitsChanged {
  return {
    event_id: newId(),
    type: 'account.limits_changed',
    version: 1,
    occurred_at: new Date().toISOString(),
    account_id: accountId,
    application_id: null,
    data: { deliveries_per_second_max: max, version },
  };
}

describe('the topic of applications', () => {
  test('is applied: events are skipped from a deactivation on and sent from the activation on', async () => {
    const application = anApplication();
    const { id } = await storeEndpoint(database.db, application.owner);
    await topics.announce([application.change(true), application.change(false, secondsAgo(60))]);
    await untilStored(application, { active: false, version: 2 });
    const missed = application.anEvent({ occurred_at: secondsAgo(30) });
    await topics.publish(missed);
    await untilDelivery(database.db, missed.data.id, { status: 'skipped', endpointId: id });
    await topics.announce([application.change(true, secondsAgo(10))]);
    await untilStored(application, { active: true, version: 3 });
    const event = application.anEvent();
    await topics.publish(event);
    await untilDelivery(database.db, event.data.id, { status: 'succeeded', endpointId: id });
  });

  test('may be repeated, in any order: the newest version stands', async () => {
    const application = anApplication();
    const marker = anApplication(application.owner.accountId);
    const changes = [true, false, true, false].map((active) => application.change(active));
    await topics.announce([...changes.toReversed(), ...changes, changes[0]!, marker.change(true)]);
    // Same account, so the same partition: what stood before it has been taken.
    await untilStored(marker, { active: true, version: 1 });
    await untilStored(application, { active: false, version: 4 });
  });

  test('is read from its beginning where it was never read, with the same result', async () => {
    await using empty = await createTestDatabase('webhook_dispatcher');
    const { topicPrefix } = await createTestTopics();
    await using own = await openResourceTopics(topicPrefix);
    const application = anApplication();
    await own.announce([application.change(true), application.change(false)]);
    await using _late = await startDispatcher(empty, topicPrefix);
    await eventually(async () => {
      const rows = await empty.db.query(sql`select active, version from applications`);
      expect(rows).toEqual([{ active: false, version: 2 }]);
    }, 30_000);
  });
});

test('limits of accounts are applied from the same topic: the newest version stands', async () => {
  const accountId = newId();
  const limits = [25, 7, null].map((max, place) => aLimitsChange(accountId, max, place + 1));
  await topics.announce([limits[1]!, limits[0]!]);
  await eventually(
    async () =>
      expect(await findRate(database.db, databaseClock, accountId)).toMatchObject({ max: 7 }),
    30_000,
  );
  await topics.announce([limits[2]!, limits[0]!]);
  await eventually(
    async () => expect(await findRate(database.db, databaseClock, accountId)).toBeNull(),
    30_000,
  );
});
