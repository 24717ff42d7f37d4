import { EVENT_CATALOGUE, isDispatched } from '@pixmesh/contracts/events/event-catalogue';
import { DisputeEventType } from '@pixmesh/contracts/messages/charge-event.v1';
import { type AccountId, type ApplicationId, newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { aChargeEvent } from '#test/a-charge-event.ts';
import { aDisputeEvent } from '#test/a-dispute-event.ts';
import { anApplication, applyChange } from '#test/an-application.ts';
import { readStoredDeliveries, type IntakeDelivery } from '#test/stored-deliveries.ts';
import { storeEndpoint } from '#test/store-endpoint.ts';
import { take } from '#test/store-event.ts';

import type { ResourceEvent } from './read-event.ts';

const OWN = 'http://own.receiver.example.com/hook';
const EVERY_EVENT = EVENT_CATALOGUE.map(({ event }) => event);

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});
afterAll(() => database[Symbol.asyncDispose]());

async function deliveriesOf(event: ResourceEvent): Promise<IntakeDelivery[]> {
  return await readStoredDeliveries(database.db, event.event_id);
}

async function audienceOf(event: ResourceEvent): Promise<(string | null)[]> {
  const deliveries = await deliveriesOf(event);
  return deliveries.map(({ endpoint, status }) => `${endpoint} ${status}`).toSorted();
}

function aMerchant() {
  const owner = { accountId: newId<AccountId>(), applicationId: newId<ApplicationId>() };
  const envelope = { account_id: owner.accountId, application_id: owner.applicationId };
  return { owner, envelope, all: { ...owner, events: EVERY_EVENT } };
}

/** Certainly after what has just been changed. */
function inTwoSeconds(): string {
  return new Date(Date.now() + 2_000).toISOString();
}

describe.each(DisputeEventType.options)('%s', (type) => {
  test('is dispatched to the endpoints of the charge’s application that subscribe to it', async () => {
    const { envelope, all } = aMerchant();
    expect(isDispatched(type)).toBe(true);
    const own = await storeEndpoint(database.db, all);
    await storeEndpoint(database.db, { ...all, events: EVERY_EVENT.filter((it) => it !== type) });
    await storeEndpoint(database.db, { ...all, applicationId: newId<ApplicationId>() });
    await storeEndpoint(database.db, { events: EVERY_EVENT });
    const event = aDisputeEvent({ ...envelope, type });
    await take(database.db, event);
    expect(await audienceOf(event)).toEqual([`${own.id} pending`]);
    const [delivery] = await deliveriesOf(event);
    expect(JSON.parse(String(delivery?.body))).toMatchObject({
      event: type,
      resource: 'dispute',
      data: event.data,
    });
  });

  test('never goes to the URL of its charge, which receives events of the charge alone', async () => {
    const { envelope, all } = aMerchant();
    const charge = aChargeEvent({ ...envelope, type: 'charge.pix.infraction', url: OWN });
    await take(database.db, charge);
    expect(await audienceOf(charge)).toEqual(['null pending']);
    const dispute = { charge_id: charge.data.id };
    const alone = aDisputeEvent({ ...envelope, type, dispute, sequence: 2 });
    await take(database.db, alone);
    expect(await deliveriesOf(alone)).toEqual([]);
    // An endpoint with that very text is an endpoint, and stands for nothing else.
    const { id } = await storeEndpoint(database.db, { ...all, url: OWN });
    const event = aDisputeEvent({ ...envelope, type, dispute, sequence: 3 });
    await take(database.db, event);
    expect(await deliveriesOf(event)).toMatchObject([{ endpoint: id, forOwn: false }]);
    const destinations = await database.db.query(
      sql`select resource_id from destinations where resource_id = ${event.data.id}`,
    );
    expect(destinations).toEqual([]);
  });

  test('of a charge of the checkout goes to every active application of the account', async () => {
    const { owner, envelope, all } = aMerchant();
    const inactive = anApplication(owner.accountId);
    const one = await storeEndpoint(database.db, all);
    const two = await storeEndpoint(database.db, { ...all, applicationId: newId<ApplicationId>() });
    const three = await storeEndpoint(database.db, { ...inactive.owner, events: EVERY_EVENT });
    await storeEndpoint(database.db, { events: EVERY_EVENT });
    await applyChange(database.db, inactive.change(false));
    const checkout = { ...envelope, application_id: null, source: 'checkout' as const };
    const event = aDisputeEvent({ ...checkout, type, occurred_at: inTwoSeconds() });
    await take(database.db, event);
    expect(await audienceOf(event)).toEqual(
      [`${one.id} pending`, `${two.id} pending`, `${three.id} skipped`].toSorted(),
    );
  });

  test('that comes again adds nothing', async () => {
    const { envelope, all } = aMerchant();
    await storeEndpoint(database.db, all);
    const event = aDisputeEvent({ ...envelope, type });
    await take(database.db, event);
    await take(database.db, event);
    expect(await deliveriesOf(event)).toHaveLength(1);
  });
});
