import { sql } from '@pixmesh/postgres/sql';
import { verifyWebhookSignature } from '@pixmesh/kernel/webhook-signature';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { RETRY_DELAYS_MS } from '#attempts/retry-schedule.ts';
import type { ResourceEvent } from '#intake/read-event.ts';
import { claimLanes } from '#lanes/claim-lanes.sql.ts';
import { releaseLanes } from '#lanes/release-lanes.sql.ts';
import { databaseClock as clock } from '#schedule-clock.ts';
import { fetchDue } from '#sending/fetch-due.sql.ts';
import { claimOptions } from '#test/claim-options.ts';
import { HOOK_URL as SHOP } from '#test/a-resource-envelope.ts';
import { anApplication, applyChange } from '#test/an-application.ts';
import { readLane } from '#test/queued-deliveries.ts';
import { readDeliveries, untilDelivery } from '#test/listed-deliveries.ts';
import { type Receiver, startFailingReceiver, startReceiver } from '#test/start-receiver.ts';
import { patchEndpoint, storeEndpoint, type StoredEndpoint } from '#test/store-endpoint.ts';
import { take } from '#test/store-event.ts';
import { sealingKeys } from '#test/test-dispatcher.ts';
import { startTestSender, turnableClock } from '#test/test-sender.ts';

const ENDPOINT_SECRET = 'whsec_endpoint_0001';
const OWN_SECRET = 'whsec_resource_0001';
const AT = '2026-11-21T12:00:00.000Z';
const BEFORE = '2026-11-21T11:59:59.999Z';
const AFTER = AT;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});
/** Leaves nothing behind for the next test. */
afterEach(async () => {
  await database.db.query(sql`delete from queue`);
});
afterAll(() => database[Symbol.asyncDispose]());

/** The deliveries of an event, as sortable text. */
async function audienceOf(event: ResourceEvent): Promise<string[]> {
  const rows = await database.db.query<{ text: string }>(sql`
    select
      concat_ws(' ', coalesce(endpoint_id::text, 'own URL'), status, case when for_resource_url then 'for own URL' end)
        as text
    from deliveries
    where event_id = ${event.event_id}`);
  return rows.map(({ text }) => text).toSorted();
}

/** Registered with the URL of the resources. */
async function anEndpointOf(owner: Partial<StoredEndpoint>): Promise<StoredEndpoint> {
  return await storeEndpoint(database.db, { ...owner, url: SHOP });
}

function startSender(receiver: Receiver) {
  const clock = turnableClock();
  const receivers = { shop: receiver.port };
  return { clock, sender: startTestSender({ db: database.db, receivers, clock }) };
}

/** Its sender has let the lane go and leaves it alone. */
async function untilParked({ id }: StoredEndpoint): Promise<void> {
  await eventually(async () => {
    expect(await readLane(database.db, id)).toEqual({ waiting: 1, leased: false, wakes: 'never' });
  });
}

/** So long ago that no difference between clocks matters. */
function secondsAgo(seconds: number): string {
  return new Date(Date.now() - seconds * 1_000).toISOString();
}

describe('an event of a deactivated application', () => {
  test('is skipped for its endpoints and goes to the URL of its resource, with that URL too', async () => {
    const application = anApplication();
    const { id } = await anEndpointOf(application.owner);
    await applyChange(database.db, application.change(false, secondsAgo(60)));
    const event = application.anEvent({ url: SHOP });
    await take(database.db, event);
    expect(await audienceOf(event)).toEqual([`${id} skipped`, 'own URL pending'].toSorted());
  });

  test('receives events again from the reactivation on; what was skipped is not sent later', async () => {
    await using receiver = await startReceiver();
    const { clock, sender } = startSender(receiver);
    await using _sender = sender;
    const application = anApplication();
    const { id } = await anEndpointOf(application.owner);
    await applyChange(database.db, application.change(false, secondsAgo(60)));
    const missed = application.anEvent({ occurred_at: secondsAgo(30) });
    await take(database.db, missed, { wakeSenders: sender.wake });
    await applyChange(database.db, application.change(true, secondsAgo(10)));
    const later = application.anEvent();
    await take(database.db, later, { wakeSenders: sender.wake });
    await untilDelivery(database.db, later.data.id, { status: 'succeeded', endpointId: id });
    clock.advance(24 * 60 * 60 * 1000);
    const skipped = { status: 'skipped', nextAttemptAt: null, attempts: [] };
    await untilDelivery(database.db, missed.data.id, skipped);
    expect(receiver.requests).toHaveLength(1);
  });

  test('that happened before and is consumed late is not missed: it waits', async () => {
    const application = anApplication();
    const { id } = await anEndpointOf(application.owner);
    await applyChange(database.db, application.change(false, AT));
    const [before, after] = [BEFORE, AFTER].map((occurred_at) =>
      application.anEvent({ occurred_at }),
    );
    for (const event of [before!, after!]) await take(database.db, event);
    expect(await audienceOf(before!)).toEqual([`${id} pending`]);
    expect(await audienceOf(after!)).toEqual([`${id} skipped`]);
  });

  test('stays skipped for an endpoint that is paused by itself when the application comes back', async () => {
    const application = anApplication();
    const endpoint = await anEndpointOf({ ...application.owner, active: false });
    await applyChange(database.db, application.change(false, secondsAgo(60)));
    await applyChange(database.db, application.change(true));
    const event = application.anEvent({ url: SHOP });
    await take(database.db, event);
    expect(await audienceOf(event)).toContain(`${endpoint.id} skipped`);
  });
});

test('an event that no application made goes to every active application of its account', async () => {
  const [open, closed] = [anApplication(), anApplication()];
  const accountId = open.owner.accountId;
  const inactive = { ...closed.owner, accountId };
  const active = await anEndpointOf(open.owner);
  const disabled = await anEndpointOf(inactive);
  const change = closed.change(false, secondsAgo(60));
  await applyChange(database.db, { ...change, account_id: accountId });
  const event = open.anEvent({ application_id: null, source: 'checkout', url: null });
  await take(database.db, event);
  expect(await audienceOf(event)).toEqual(
    [`${active.id} pending`, `${disabled.id} skipped`].toSorted(),
  );
});

describe('a retry of a deactivated application', () => {
  test('waits without an attempt and goes on after the reactivation, with the same bytes', async () => {
    await using receiver = await startFailingReceiver();
    const { clock, sender } = startSender(receiver);
    await using _sender = sender;
    const application = anApplication();
    const endpoint = await anEndpointOf(application.owner);
    const event = application.anEvent();
    await take(database.db, event, { wakeSenders: sender.wake });
    await untilDelivery(database.db, event.data.id, { attempts: [{ number: 1 }] });
    await applyChange(database.db, application.change(false));
    clock.advance(RETRY_DELAYS_MS[0]);
    sender.wake();
    await untilParked(endpoint);
    await untilDelivery(database.db, event.data.id, {
      status: 'pending',
      attempts: [{ number: 1 }],
    });
    receiver.heal();
    await applyChange(database.db, application.change(true));
    sender.wake();
    await untilDelivery(database.db, event.data.id, {
      status: 'succeeded',
      attempts: [{ number: 1 }, { number: 2 }],
    });
    expect(receiver.requests).toHaveLength(2);
    expect(receiver.requests[1]!.body.equals(receiver.requests[0]!.body)).toBe(true);
  });

  test('is not woken by its endpoint, should that be resumed meanwhile', async () => {
    const application = anApplication();
    const endpoint = await anEndpointOf(application.owner);
    const event = application.anEvent();
    await take(database.db, event);
    await applyChange(database.db, application.change(false));
    await patchEndpoint(database.db, endpoint, { active: false });
    await patchEndpoint(database.db, endpoint, { active: true });
    const options = claimOptions({ clock, limit: 100, leaseMs: 60_000 });
    const lanes = await claimLanes(database.db, options);
    expect(lanes.map(({ id }) => id)).toContain(endpoint.id);
    const requests = lanes.map(({ id }) => ({
      id,
      take: 10,
      recovered: 10,
      wantsOther: false,
      inFlight: [],
    }));
    expect(await fetchDue(database.db, clock, requests)).toEqual({ due: [], deletedLaneIds: [] });
    await releaseLanes(database.db, clock, lanes);
    await untilParked(endpoint);
    const [waiting] = await readDeliveries(database.db, event.data.id);
    expect(waiting).toMatchObject({ status: 'pending', attempts: [] });
  });

  test('to the URL of its resource goes on, under the secret of the resource', async () => {
    await using receiver = await startFailingReceiver();
    const { clock, sender } = startSender(receiver);
    await using _sender = sender;
    const application = anApplication();
    const given = { ...application.owner, url: SHOP, secret: ENDPOINT_SECRET };
    const endpoint = await storeEndpoint(database.db, given);
    const secret = { clear: OWN_SECRET, publicKey: sealingKeys.publicKey };
    const event = application.anEvent({ url: SHOP, secret });
    await take(database.db, event, { wakeSenders: sender.wake });
    expect(await audienceOf(event)).toEqual([`${endpoint.id} pending for own URL`]);
    await untilDelivery(database.db, event.data.id, { attempts: [{ number: 1 }] });
    await applyChange(database.db, application.change(false));
    receiver.heal();
    clock.advance(RETRY_DELAYS_MS[0]);
    sender.wake();
    await untilDelivery(database.db, event.data.id, { status: 'succeeded' });
    const signers = receiver.requests.map(({ headers, body }) => {
      const signature = String(headers['x-webhook-signature']);
      return [ENDPOINT_SECRET, OWN_SECRET].filter((key) =>
        verifyWebhookSignature(key, body, signature),
      );
    });
    expect(signers).toEqual([[ENDPOINT_SECRET], [OWN_SECRET]]);
  });
});
