import { EVENT_CATALOGUE, isDispatched } from '@pixmesh/contracts/events/event-catalogue';
import { ChargeEventType } from '@pixmesh/contracts/messages/charge-event.v1';
import { PayoutEventType } from '@pixmesh/contracts/messages/payout-event.v1';
import { armFailpoints } from '@pixmesh/service/failpoints';
import { type AccountId, type ApplicationId, newId } from '@pixmesh/kernel/ids';
import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import * as fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { aChargeEvent } from '#test/a-charge-event.ts';
import { anApplicationChange } from '#test/an-application-change.ts';
import { applyChange } from '#test/an-application.ts';
import { aPayoutEvent } from '#test/a-payout-event.ts';
import { genericPlan } from '#test/generic-plan.ts';
import { readStoredDeliveries, type IntakeDelivery } from '#test/stored-deliveries.ts';
import {
  patchEndpoint,
  removeStoredEndpoint,
  storeEndpoint,
  type StoredEndpoint,
} from '#test/store-endpoint.ts';
import { OWNS_ALL, take } from '#test/store-event.ts';

import {
  subscribersOfEventsStatement,
  subscribersStatement,
  subscriptionsStatement,
} from './find-subscribers.sql.ts';
import type { ResourceEvent } from './read-event.ts';

const OWN = 'http://own.receiver.example.com/hook';
const ELSEWHERE = 'http://elsewhere.receiver.example.com/hook';
const EVERY_EVENT = EVENT_CATALOGUE.map(({ event }) => event);

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});

afterEach(() => armFailpoints({}));

afterAll(() => database[Symbol.asyncDispose]());

async function deliveriesOf(event: ResourceEvent): Promise<IntakeDelivery[]> {
  return await readStoredDeliveries(database.db, event.event_id);
}

/** The deliveries of an event, as sortable text. */
async function audienceOf(event: ResourceEvent): Promise<string[]> {
  return (await deliveriesOf(event)).map(toText).toSorted();
}

function toText(delivery: Pick<IntakeDelivery, 'endpoint' | 'status' | 'forOwn'>): string {
  return `${delivery.endpoint ?? 'own URL'} ${delivery.status}${delivery.forOwn ? ' for own URL' : ''}`;
}

/** A merchant with one application, and an event of a charge that the application made. */
function aCaller() {
  const owner = { accountId: newId<AccountId>(), applicationId: newId<ApplicationId>() };
  const envelope = { account_id: owner.accountId, application_id: owner.applicationId };
  return { owner, envelope };
}

describe('who receives an event', () => {
  test('is the application of its resource, and no other one of the account', async () => {
    const { owner, envelope } = aCaller();
    const own = await storeEndpoint(database.db, owner);
    await storeEndpoint(database.db, { accountId: owner.accountId });
    await storeEndpoint(database.db, {});
    const event = aChargeEvent({ ...envelope, url: null });
    await take(database.db, event);
    expect(await audienceOf(event)).toEqual([`${own.id} pending`]);
  });

  test.each(['checkout', 'dashboard'] as const)(
    'is every application of the account where none made the resource (%s)',
    async (source) => {
      const { owner, envelope } = aCaller();
      const one = await storeEndpoint(database.db, owner);
      const other = await storeEndpoint(database.db, { accountId: owner.accountId });
      await storeEndpoint(database.db, {});
      const event = aChargeEvent({ ...envelope, application_id: null, source, url: null });
      await take(database.db, event);
      expect(await audienceOf(event)).toEqual(
        [`${one.id} pending`, `${other.id} pending`].toSorted(),
      );
    },
  );

  test('is not who registered after it, however late it is consumed', async () => {
    const { owner, envelope } = aCaller();
    await storeEndpoint(database.db, { ...owner, createdAt: new Date('2026-11-21T12:00:02.000Z') });
    const early = { ...envelope, url: null, occurred_at: '2026-11-21T11:59:31.999Z' };
    const event = aChargeEvent(early);
    await take(database.db, event);
    expect(await audienceOf(event)).toEqual([]);
    const later = aChargeEvent({ ...early, occurred_at: '2026-11-21T12:00:02.000Z' });
    await take(database.db, later);
    expect(await audienceOf(later)).toHaveLength(1);
  });

  test('is also who paused after it; what happens from the pause on is skipped', async () => {
    const { owner, envelope } = aCaller();
    const pausedAt = new Date('2026-11-21T12:00:01.000Z');
    const { id } = await storeEndpoint(database.db, { ...owner, active: false, pausedAt });
    const anEvent = (occurred_at: string) => aChargeEvent({ ...envelope, url: null, occurred_at });
    const before = anEvent('2026-11-21T12:00:00.999Z');
    const after = anEvent('2026-11-21T12:00:01.000Z');
    await take(database.db, [before, after]);
    expect(await audienceOf(before)).toEqual([`${id} pending`]);
    expect(await audienceOf(after)).toEqual([`${id} skipped`]);
    const [skipped] = await deliveriesOf(after);
    expect(skipped?.isQueued).toBe(false);
  });

  test('is once an endpoint that paused after it with the URL of the resource: that URL receives it', async () => {
    const { owner, envelope } = aCaller();
    const pausedAt = new Date('2026-11-21T12:00:01.000Z');
    const paused = { ...owner, url: OWN, active: false, pausedAt };
    const { id } = await storeEndpoint(database.db, paused);
    const event = aChargeEvent({ ...envelope, url: OWN, occurred_at: '2026-11-21T12:00:00.000Z' });
    await take(database.db, event);
    expect(await audienceOf(event)).toEqual([`${id} pending for own URL`]);
  });

  test('is not who deleted its endpoint', async () => {
    const { owner, envelope } = aCaller();
    await removeStoredEndpoint(database.db, await storeEndpoint(database.db, owner));
    const event = aChargeEvent({ ...envelope });
    await take(database.db, event);
    expect(await audienceOf(event)).toEqual(['own URL pending']);
  });
});

describe('each delivery of an event', () => {
  test('has an id and bytes of its own, and all were assembled at once', async () => {
    const { owner, envelope } = aCaller();
    for (let count = 0; count < 3; count += 1)
      await storeEndpoint(database.db, { ...owner, url: ELSEWHERE });
    const event = aChargeEvent({ ...envelope, url: OWN });
    await take(database.db, event);
    const deliveries = await deliveriesOf(event);
    expect(deliveries).toHaveLength(4);
    const bodies = deliveries.map(
      ({ body }) => JSON.parse(String(body)) as Record<string, unknown>,
    );
    expect(bodies.map(({ id }) => id)).toEqual(deliveries.map(({ id }) => id));
    const [first] = bodies;
    for (const body of bodies) expect({ ...body, id: null }).toEqual({ ...first, id: null });
    expect(first).toMatchObject({ event: 'charge.pix.created', data: event.data });
  });
});

describe('the URL of a resource', () => {
  test('is kept for later events while an endpoint stands for it', async () => {
    const { owner, envelope } = aCaller();
    const endpoint = await storeEndpoint(database.db, { ...owner, url: OWN });
    const first = aChargeEvent({ ...envelope, url: OWN });
    await take(database.db, first);
    expect(await audienceOf(first)).toEqual([`${endpoint.id} pending for own URL`]);
    const rows = await database.db.query(
      sql`select url from destinations where resource_id = ${first.data.id}`,
    );
    expect(rows).toEqual([{ url: OWN }]);
    // The endpoint does not subscribe to this one.
    const paid = aChargeEvent({
      ...envelope,
      url: OWN,
      type: 'charge.pix.paid',
      charge: { id: first.data.id },
      sequence: 2,
    });
    await take(database.db, paid);
    expect(await audienceOf(paid)).toEqual(['own URL pending']);
  });

  test('is not kept where the resource has none', async () => {
    const { owner, envelope } = aCaller();
    await storeEndpoint(database.db, owner);
    const event = aChargeEvent({ ...envelope, url: null });
    await take(database.db, event);
    const rows = await database.db.query(
      sql`select url from destinations where resource_id = ${event.data.id}`,
    );
    expect(rows).toEqual([]);
    expect(await audienceOf(event)).toHaveLength(1);
  });
});

describe('a message that comes again', () => {
  test('adds nothing and wakes no sender, whatever became of the endpoints', async () => {
    const { owner, envelope } = aCaller();
    const same = await storeEndpoint(database.db, { ...owner, url: OWN });
    const moved = await storeEndpoint(database.db, { ...owner, url: ELSEWHERE });
    const gone = await storeEndpoint(database.db, { ...owner, url: ELSEWHERE });
    const event = aChargeEvent({ ...envelope, url: OWN });
    const wakeUps: string[][] = [];
    const wakeSenders = (laneIds: readonly string[]): void => void wakeUps.push([...laneIds]);
    await take(database.db, event, { wakeSenders });
    const before = await deliveriesOf(event);
    await storeEndpoint(database.db, { ...owner, url: ELSEWHERE });
    await patchEndpoint(database.db, same, { active: false });
    await patchEndpoint(database.db, moved, { url: OWN });
    await removeStoredEndpoint(database.db, gone);
    await take(database.db, event, { wakeSenders });
    const after = await deliveriesOf(event);
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    expect(after.map(({ body }) => String(body))).toEqual(before.map(({ body }) => String(body)));
    expect(wakeUps).toHaveLength(1);
  });

  test('after a crash right behind the commit finds everything and adds nothing', async () => {
    const { owner, envelope } = aCaller();
    const endpoint = await storeEndpoint(database.db, { ...owner, url: OWN });
    const event = aChargeEvent({ ...envelope, url: OWN });
    armFailpoints({ 'webhooks.intake.after-commit': 'error' });
    await expect(take(database.db, event)).rejects.toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
      cause: { message: 'failpoint webhooks.intake.after-commit' },
    });
    const stored = await deliveriesOf(event);
    await patchEndpoint(database.db, endpoint, { active: false });
    await take(database.db, event);
    expect(await deliveriesOf(event)).toEqual(stored);
    expect(stored.map(toText)).toEqual([`${endpoint.id} pending for own URL`]);
  });

  test('to two consumers at once makes one set of deliveries', async () => {
    const { owner, envelope } = aCaller();
    for (let count = 0; count < 5; count += 1) await storeEndpoint(database.db, owner);
    const event = aChargeEvent({ ...envelope, url: ELSEWHERE });
    await Promise.all(Array.from({ length: 6 }, () => take(database.db, event)));
    expect(await audienceOf(event)).toHaveLength(6);
  });
});

describe('the flag of the catalogue alone decides, for endpoints too:', () => {
  const types = [...ChargeEventType.options, ...PayoutEventType.options];

  test.each(types)('%s reaches who subscribes to it, or no endpoint', async (type) => {
    const { owner, envelope } = aCaller();
    const { id } = await storeEndpoint(database.db, { ...owner, events: EVERY_EVENT });
    await storeEndpoint(database.db, {
      ...owner,
      events: EVERY_EVENT.filter((name) => name !== type),
    });
    const event = type.startsWith('charge.')
      ? aChargeEvent({ ...envelope, url: null, type: type as ChargeEventType })
      : aPayoutEvent({ ...envelope, url: null, type: type as PayoutEventType });
    await take(database.db, event);
    expect(await audienceOf(event)).toEqual(isDispatched(type) ? [`${id} pending`] : []);
  });

  test('a subscription to payment.pix.completed is stored and not sent to', async () => {
    const { owner, envelope } = aCaller();
    await storeEndpoint(database.db, { ...owner, events: ['payment.pix.completed'] });
    const event = aPayoutEvent({ ...envelope, type: 'payment.pix.completed' });
    await take(database.db, event);
    const rows = await database.db.query(sql`
      select event_id as id from events where event_id = ${event.event_id}
      union all select resource_id from destinations where resource_id = ${event.data.id}
      union all select id from deliveries where resource_id = ${event.data.id}`);
    expect(rows).toEqual([]);
  });
});

type Registered = Pick<StoredEndpoint, 'url' | 'events' | 'active'> & {
  account: number;
  application: number;
  isDeleted: boolean;
  isLate: boolean;
};

/** The rules in plain words, one question after the other. */
function receives(
  endpoint: Registered,
  event: { type: string; application: number | null },
): boolean {
  const isOfAccount = endpoint.account === 0;
  const isOfAudience = event.application === null || endpoint.application === event.application;
  const isThere = !endpoint.isDeleted && !endpoint.isLate;
  return isOfAccount && isOfAudience && isThere && endpoint.events.includes(event.type);
}

/** As an endpoint, and through its application. */
function isActive(endpoint: Registered, event: { deactivated: readonly number[] }): boolean {
  return endpoint.active && !event.deactivated.includes(endpoint.application);
}

const registered: fc.Arbitrary<Registered> = fc.record({
  account: fc.constantFrom(0, 0, 0, 1),
  application: fc.constantFrom(0, 0, 1),
  url: fc.constantFrom(OWN, OWN.toUpperCase(), ELSEWHERE),
  events: fc.constantFrom(
    ['charge.pix.created'],
    ['charge.pix.paid'],
    ['charge.pix.created', 'charge.pix.paid'],
  ),
  active: fc.constantFrom(true, true, false),
  isDeleted: fc.constantFrom(false, false, false, true),
  isLate: fc.constantFrom(false, false, false, true),
});

test('whatever is registered, an event reaches exactly those whom the rules name', async () => {
  const event = fc.record({
    type: fc.constantFrom('charge.pix.created', 'charge.pix.paid'),
    application: fc.constantFrom(0, 1, null),
    url: fc.constantFrom(OWN, ELSEWHERE, null),
    deactivated: fc.constantFrom<number[]>([], [], [0], [1], [0, 1]),
    owned: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(registered, { maxLength: 8 }), event, async (endpoints, about) => {
      // Applications belong to one account each; which ids they have is their only difference.
      const accounts = [newId<AccountId>(), newId<AccountId>()];
      const applications = accounts.map(() => [newId<ApplicationId>(), newId<ApplicationId>()]);
      const ids: string[] = [];
      for (const endpoint of endpoints) {
        const stored = await storeEndpoint(database.db, {
          ...endpoint,
          accountId: accounts[endpoint.account]!,
          applicationId: applications[endpoint.account]![endpoint.application]!,
          ...(endpoint.isLate ? { createdAt: new Date(Date.now() + 60_000) } : {}),
          deletedAt: endpoint.isDeleted ? new Date() : null,
        });
        ids.push(stored.id);
      }
      for (const application of about.deactivated) {
        const owner = { accountId: accounts[0]!, applicationId: applications[0]![application]! };
        const change = { ...owner, active: false, version: 2 };
        await applyChange(database.db, anApplicationChange(change));
      }
      const message = aChargeEvent({
        account_id: accounts[0]!,
        application_id: about.application === null ? null : applications[0]![about.application]!,
        source: about.application === null ? 'checkout' : 'api',
        type: about.type as ChargeEventType,
        url: about.url,
        // Certainly after what has just been changed.
        occurred_at: new Date(Date.now() + 10).toISOString(),
      });
      await database.db.query(sql`update lanes set leased = true where id = any (${ids})`);
      await take(database.db, message, { sender: about.owned ? OWNS_ALL : null });

      const audience = endpoints.flatMap((endpoint, index) =>
        receives(endpoint, about)
          ? [{ ...endpoint, id: ids[index]!, active: isActive(endpoint, about) }]
          : [],
      );
      const standsFor = audience.filter(({ active, url }) => active && url === about.url);
      const expected = audience.map((endpoint) =>
        toText({
          endpoint: endpoint.id,
          status: endpoint.active ? 'pending' : 'skipped',
          forOwn: standsFor.includes(endpoint),
        }),
      );
      if (about.url !== null && standsFor.length === 0) expected.push('own URL pending');
      expect(await audienceOf(message)).toEqual(expected.toSorted());
    }),
    { numRuns: scaled(60, 2_000) },
  );
}, 600_000);

describe('who subscribes is found', () => {
  const wanted = { accountId: newId(), type: 'charge.pix.paid' };

  test('through indexes, also by plans made while none did', async () => {
    await using empty = await createTestDatabase('webhook_dispatcher');
    const plan = await genericPlan(empty.db, subscribersStatement([]));
    expect(plan.scans).toEqual([]);
    expect(plan.text).toContain('Index Cond: (account_id = audience.account_id)');
    expect((await genericPlan(empty.db, subscribersOfEventsStatement([]))).scans).toEqual([]);
    const subscriptions = await genericPlan(empty.db, subscriptionsStatement([]));
    expect(subscriptions.scans).toEqual([]);
    expect(subscriptions.text).toContain('Index Cond: (id = ANY (');
  });

  test('by application where an account has many', async () => {
    await using many = await createTestDatabase('webhook_dispatcher');
    await many.db.query(sql`
      insert into endpoints (id, account_id, application_id, url, description, events)
      select
        gen_random_uuid(), case when number > 1500 then gen_random_uuid() else ${wanted.accountId} end,
        gen_random_uuid(), ${OWN}, '', ${EVERY_EVENT}
      from generate_series(1, 3000) as number`);
    await using superuser = createPool({ url: many.adminUrl, applicationName: 'test' });
    await superuser.query(sql`analyze webhook_dispatcher.endpoints`);
    const statement = subscribersStatement([{ ...wanted, applicationId: newId() }]);
    const plan = await genericPlan(many.db, statement);
    expect(plan.scans).toEqual([]);
    expect(plan.text).toContain('endpoints_application');
    expect((await genericPlan(many.db, subscriptionsStatement([]))).scans).toEqual([]);
  });
});
