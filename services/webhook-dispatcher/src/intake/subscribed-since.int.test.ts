import { type AccountId, type ApplicationId, newId } from '@pixmesh/kernel/ids';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { aChargeEvent } from '#test/a-charge-event.ts';
import { readStoredDeliveries } from '#test/stored-deliveries.ts';
import { patchEndpoint, storeEndpoint } from '#test/store-endpoint.ts';
import { take } from '#test/store-event.ts';

import type { ResourceEvent } from './read-event.ts';

const HOUR_MS = 3_600_000;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});
afterAll(() => database[Symbol.asyncDispose]());

/** The endpoints that have a delivery of an event. */
async function receivers(event: ResourceEvent): Promise<(string | null)[]> {
  return (await readStoredDeliveries(database.db, event.event_id)).map(({ endpoint }) => endpoint);
}

test('an event that a clock behind dates before the registration is on record, and is not sent', async () => {
  const owner = { accountId: newId<AccountId>(), applicationId: newId<ApplicationId>() };
  const endpoint = await storeEndpoint(database.db, { ...owner, createdAt: new Date() });
  const anEvent = (inMs: number) =>
    aChargeEvent({
      account_id: owner.accountId,
      application_id: owner.applicationId,
      url: null,
      occurred_at: new Date(Date.now() + inMs).toISOString(),
    });
  const behind = anEvent(-20_000);
  await take(database.db, behind);
  expect(await readStoredDeliveries(database.db, behind.event_id)).toMatchObject([
    { endpoint: endpoint.id, status: 'skipped', isQueued: false },
  ]);
  const before = anEvent(-60_000);
  await take(database.db, before);
  expect(await receivers(before)).toEqual([]);
});

test('an endpoint does not receive what happened before it subscribed, however often that is consumed', async () => {
  const owner = { accountId: newId<AccountId>(), applicationId: newId<ApplicationId>() };
  const envelope = { account_id: owner.accountId, application_id: owner.applicationId };
  const endpoint = await storeEndpoint(database.db, {
    ...owner,
    events: ['charge.pix.paid', 'charge.pix.refunded'],
  });
  const anEvent = (inMs: number) =>
    aChargeEvent({
      ...envelope,
      url: null,
      occurred_at: new Date(Date.now() + inMs).toISOString(),
    });
  const events = [...endpoint.events, 'charge.pix.created'];
  const before = anEvent(-HOUR_MS);
  await take(database.db, before);
  await patchEndpoint(database.db, endpoint, { events });
  await take(database.db, before);
  expect(await receivers(before)).toEqual([]);
  const after = anEvent(1_000);
  await take(database.db, after);
  expect(await receivers(after)).toEqual([endpoint.id]);
  // An event that is named again was subscribed to all along.
  await patchEndpoint(database.db, endpoint, { events: events.toReversed() });
  const paid = { ...before, event_id: newId(), type: 'charge.pix.paid' as const };
  await take(database.db, paid);
  expect(await receivers(paid)).toHaveLength(1);
});
