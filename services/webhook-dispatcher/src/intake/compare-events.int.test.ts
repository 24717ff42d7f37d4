import { isDispatched } from '@pixmesh/contracts/events/event-catalogue';
import type { ComparedEvent } from '@pixmesh/contracts/internal/compare-events';
import { CONSUMER_GROUPS } from '@pixmesh/contracts/internal/consumer-groups';
import { type AccountId, type ApplicationId, newId, timeOfId } from '@pixmesh/kernel/ids';
import { listDeadLetters, markDismissed, parkMessage } from '@pixmesh/postgres/dead-letters';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { smallestIdOf } from '#deliveries/id-of-instant.ts';
import { aChargeEvent } from '#test/a-charge-event.ts';
import { storeEndpoint } from '#test/store-endpoint.ts';
import { take } from '#test/store-event.ts';

import { compareEvents, type CompareEventsDeps } from './compare-events.ts';
import type { ResourceEvent } from './read-event.ts';

const URL_TEXT = 'https://shop.receiver.example.com/hook';
const HOUR_MS = 3_600_000;
const NOW = new Date();
/** Nothing that these tests make is as old. */
const LONG_AGO = smallestIdOf(Date.now() - HOUR_MS);

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});
afterAll(() => database[Symbol.asyncDispose]());

test('an event that was taken in, and one that has no destination, are where they belong', async () => {
  const taken = aChargeEvent({ url: URL_TEXT });
  await take(database.db, taken);
  const unreceived = aChargeEvent({ url: null });
  expect(await compare([taken, unreceived])).toMatchObject({ missing: [], unknown: [] });
});

test('an event with a URL of its own, or with an endpoint that was there, is missing until it is taken in', async () => {
  const owner = { accountId: newId<AccountId>(), applicationId: newId<ApplicationId>() };
  await storeEndpoint(database.db, owner);
  const forEndpoint = aChargeEvent({
    account_id: owner.accountId,
    application_id: owner.applicationId,
    url: null,
    occurred_at: new Date(Date.now() + 1_000).toISOString(),
  });
  const earlier = {
    ...forEndpoint,
    event_id: newId(),
    occurred_at: '2020-01-01T00:00:00.000Z',
  };
  const forUrl = aChargeEvent({ url: URL_TEXT });
  const all = [forEndpoint, earlier, forUrl];
  const { missing } = await compare(all);
  expect(missing.toSorted()).toEqual([forEndpoint.event_id, forUrl.event_id].toSorted());
  for (const event of all) await take(database.db, event);
  expect((await compare(all)).missing).toEqual([]);
});

test('an event that the catalogue does not dispatch is not missing', async () => {
  const event = aChargeEvent({ url: URL_TEXT });
  const body = bodyOf([event]);
  const deps = { ...compareDeps(), isDispatched: () => false };
  expect((await compareEvents(deps, body)).missing).toEqual([]);
});

test('an event that was parked here is missing until an operator dismisses it', async () => {
  const [waiting, dismissed] = [aChargeEvent({ url: URL_TEXT }), aChargeEvent({ url: URL_TEXT })];
  await park(waiting);
  const letterId = await park(dismissed);
  const both = [waiting.event_id, dismissed.event_id];
  expect((await compare([waiting, dismissed])).missing).toEqual(both);
  const dismissal = { operatorId: newId(), reason: 'announces nothing' };
  expect(await markDismissed(database.db, letterId, dismissal)).toBe(true);
  expect((await compare([waiting, dismissed])).missing).toEqual([waiting.event_id]);
});

test('an event that its owner does not list is unknown, within the range and the types that are compared', async () => {
  const [listed, unlisted] = [aChargeEvent({ url: URL_TEXT }), aChargeEvent({ url: URL_TEXT })];
  for (const event of [listed, unlisted]) await take(database.db, event);
  const after = smallestIdOf(timeOfId(listed.event_id).getTime() - 1);
  const body = { ...bodyOf([listed]), after, types: [listed.type] };
  const deps = compareDeps();
  expect((await compareEvents(deps, body)).unknown).toContain(unlisted.event_id);
  const elsewhere = [
    { ...body, types: ['payment.pix.completed'] },
    { ...body, after: smallestIdOf(Date.now() + HOUR_MS) },
    { ...body, until: after, after: LONG_AGO },
  ];
  for (const range of elsewhere) {
    expect((await compareEvents(deps, range)).unknown).not.toContain(unlisted.event_id);
  }
});

test('an owner is told up to when the intake has handled all, and nothing where that is not known', async () => {
  const body = bodyOf([aChargeEvent({ url: URL_TEXT })]);
  const answer = await compareEvents(compareDeps(), body);
  expect(answer.handled_until).toBe(NOW.toISOString());
  const unknown = { ...compareDeps(), handledUntil: async () => null };
  await expect(compareEvents(unknown, body)).rejects.toThrow('how far the intake is');
});

test('how far the intake is, is asked before anything is looked for: what it handles meanwhile is no loss', async () => {
  const event = aChargeEvent({ url: URL_TEXT });
  const handledUntil = async () => {
    await take(database.db, event);
    return NOW;
  };
  const { missing } = await compareEvents({ ...compareDeps(), handledUntil }, bodyOf([event]));
  expect(missing).toEqual([]);
});

/** As the intake does; the headers hold a character that Postgres cannot store in a text. Returns the letter's id. */
async function park({ event_id }: ResourceEvent): Promise<string> {
  const { groupId, topics } = CONSUMER_GROUPS.dispatcherIntake;
  const place = { topic: topics[0], partition: 0, offset: BigInt(timeOfId(event_id).getTime()) };
  await parkMessage(database.db, groupId, {
    ...place,
    key: null,
    headers: { event_id, note: 'a\0b' },
    value: Buffer.from(event_id),
    code: 'MESSAGE_INVALID',
    reason: 'cannot be stored',
  });
  const [letter] = await listDeadLetters(database.db, { limit: 1, startingAfter: null });
  return letter!.id;
}

async function compare(events: readonly ResourceEvent[]) {
  return await compareEvents(compareDeps(), bodyOf(events));
}

function compareDeps(): CompareEventsDeps {
  return { db: database.db, isDispatched, handledUntil: async () => NOW };
}

/** As its owner lists them; the range begins where none of them is older, so that nothing else is compared. */
function bodyOf(events: readonly ResourceEvent[]) {
  const until = smallestIdOf(Date.now() + HOUR_MS);
  return { after: until, until, types: ['charge.pix.paid'], events: events.map(toCompared) };
}

function toCompared(event: ResourceEvent): ComparedEvent {
  return {
    event_id: event.event_id,
    type: event.type,
    account_id: event.account_id ?? '',
    application_id: event.application_id,
    occurred_at: event.occurred_at,
    has_url: event.destination !== null,
  };
}
