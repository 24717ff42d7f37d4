import { isDispatched } from '@pixmesh/contracts/events/event-catalogue';
import { ChargeEventType } from '@pixmesh/contracts/messages/charge-event.v1';
import { PayoutEventType } from '@pixmesh/contracts/messages/payout-event.v1';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { aChargeEvent } from '#test/a-charge-event.ts';
import { aPayoutEvent } from '#test/a-payout-event.ts';
import { readStoredDeliveries } from '#test/stored-deliveries.ts';
import { take } from '#test/store-event.ts';

import type { IntakeDeps } from './intake.ts';
import type { ResourceEvent } from './read-event.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});

afterAll(() => database[Symbol.asyncDispose]());

/** Stores an event as intake does; answers how often senders were woken. */
async function store(
  event: ResourceEvent,
  catalogue: IntakeDeps['isDispatched'] = isDispatched,
): Promise<number> {
  let wakeUps = 0;
  const wakeSenders = (): void => {
    wakeUps += 1;
  };
  await take(database.db, event, { isDispatched: catalogue, wakeSenders });
  return wakeUps;
}

type StoredRow = { event: string; url: string; sealed_secret: string | null };

/** What stands in the tables about one resource. */
async function readStored(event: ResourceEvent): Promise<StoredRow[]> {
  return await database.db.query<StoredRow>(sql`
    select deliveries.event, destinations.url, destinations.sealed_secret
    from deliveries
    join queue on queue.id = deliveries.id
    join destinations on destinations.resource_id = deliveries.destination_id
    join events on events.event_id = deliveries.event_id and events.type = deliveries.event
    where deliveries.resource_id = ${event.data.id}
    order by deliveries.id`);
}

const EVENTS = [
  ...ChargeEventType.options.map((type) => ({ type, event: () => aChargeEvent({ type }) })),
  ...PayoutEventType.options.map((type) => ({ type, event: () => aPayoutEvent({ type }) })),
];

describe('the flag of the catalogue alone decides', () => {
  test.each(EVENTS)('whether $type makes a delivery', async ({ type, event }) => {
    const stored = event();
    expect(await store(stored)).toBe(isDispatched(type) ? 1 : 0);
    const deliveries = (await readStored(stored)).map((row) => row.event);
    expect(deliveries).toEqual(type === 'payment.pix.completed' ? [] : [type]);
  });

  test.each(EVENTS)('and $type is the other way when it is flipped', async ({ type, event }) => {
    const stored = event();
    await store(stored, (name) => !isDispatched(name));
    const deliveries = (await readStored(stored)).map((row) => row.event);
    expect(deliveries).toEqual(type === 'payment.pix.completed' ? [type] : []);
  });

  test('and an event that is not dispatched leaves no row at all', async () => {
    const undispatched = aPayoutEvent({ type: 'payment.pix.completed' });
    await store(undispatched);
    const rows = await database.db.query(sql`
      select event_id as id from events where event_id = ${undispatched.event_id}
      union all select resource_id from destinations where resource_id = ${undispatched.data.id}`);
    expect(rows).toEqual([]);
  });
});

describe('an event of a payout', () => {
  test('is delivered as a payment, whole and with nothing of its key changed', async () => {
    const event = aPayoutEvent({ payout: { status: 'failed' }, type: 'payment.pix.failed' });
    await store(event);
    const [stored] = await readStoredDeliveries(database.db, event.event_id);
    expect(JSON.parse(String(stored?.body))).toEqual({
      id: expect.any(String) as string,
      object: 'event',
      event: 'payment.pix.failed',
      resource: 'payment',
      method: 'pix',
      action: 'failed',
      created_at: expect.stringMatching(/Z$/) as string,
      data: event.data,
    });
    expect(event.data.object).toBe('payment');
  });

  test('that comes again adds nothing and wakes no sender', async () => {
    const event = aPayoutEvent();
    expect([await store(event), await store(event)]).toEqual([1, 0]);
    expect(await readStored(event)).toHaveLength(1);
  });

  test('cannot change the destination that the first one fixed', async () => {
    const first = aPayoutEvent({ url: 'https://a.example.net/hook' });
    const later = {
      ...first,
      event_id: newId(),
      sequence: 2,
      destination: { url: 'https://b.example.net/hook', sealed_secret: 'x' },
    };
    await store(first);
    await store(later);
    const stored = await readStored(first);
    expect(stored.map(({ url, sealed_secret }) => [url, sealed_secret])).toEqual([
      ['https://a.example.net/hook', null],
      ['https://a.example.net/hook', null],
    ]);
  });

  test('without a destination makes no delivery', async () => {
    const event = aPayoutEvent({ url: null });
    expect(await store(event)).toBe(0);
    expect(await readStored(event)).toEqual([]);
  });

  test('without an account is wrong in itself', async () => {
    const event = { ...aPayoutEvent(), account_id: null };
    await expect(store(event)).rejects.toMatchObject({ code: 'MESSAGE_INVALID' });
  });
});
