import { type AccountId, type ApplicationId, newId } from '@pixmesh/kernel/ids';
import { verifyWebhookSignature } from '@pixmesh/kernel/webhook-signature';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { RETRY_DELAYS_MS } from '#attempts/retry-schedule.ts';
import { aChargeEvent } from '#test/a-charge-event.ts';
import { readDeliveries, untilDelivery } from '#test/listed-deliveries.ts';
import { answerWith, hang, type Receiver, startReceiver } from '#test/start-receiver.ts';
import { patchEndpoint, storeEndpoint } from '#test/store-endpoint.ts';
import { take } from '#test/store-event.ts';
import { sealingKeys } from '#test/test-dispatcher.ts';
import { startSenderTo } from '#test/test-sender.ts';

const SECRET = 'whsec_endpoint_0001';
const NEW_SECRET = 'whsec_endpoint_0002';
const OWN_SECRET = 'whsec_resource_0001';
const SHOP = 'http://shop.receiver.example.com/hook';
const OFFICE = 'http://office.receiver.example.com/hook';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});

afterAll(() => database[Symbol.asyncDispose]());

/** A merchant with one application; events of its charges come with the secret of the charge. */
function aMerchant() {
  const owner = { accountId: newId<AccountId>(), applicationId: newId<ApplicationId>() };
  return {
    owner,
    anEvent: (changes: { url?: string | null; secret?: string } = {}) =>
      aChargeEvent({
        account_id: owner.accountId,
        application_id: owner.applicationId,
        url: changes.url === undefined ? null : changes.url,
        ...(changes.secret === undefined
          ? {}
          : { secret: { clear: changes.secret, publicKey: sealingKeys.publicKey } }),
      }),
  };
}

type Request = Receiver['requests'][number];

function isSignedWith(secret: string, { headers, body }: Request): boolean {
  const signature = headers['x-webhook-signature'];
  return typeof signature === 'string' && verifyWebhookSignature(secret, body, signature);
}

describe('a delivery to an endpoint', () => {
  test('is signed with the secret of the endpoint, the one beside it with that of the resource', async () => {
    await using receiver = await startReceiver();
    await using sender = startSenderTo(database.db, { shop: receiver, office: receiver });
    const { owner, anEvent } = aMerchant();
    const endpoint = await storeEndpoint(database.db, { ...owner, url: OFFICE, secret: SECRET });
    const event = anEvent({ url: SHOP, secret: OWN_SECRET });
    await take(database.db, event, { wakeSenders: sender.wake });
    await eventually(() => expect(receiver.requests).toHaveLength(2));
    const [toEndpoint, toResource] = ['office', 'shop'].map((name) =>
      receiver.requests.find(({ headers }) => headers.host?.includes(name))!,
    );
    expect(isSignedWith(SECRET, toEndpoint!)).toBe(true);
    expect(isSignedWith(OWN_SECRET, toResource!)).toBe(true);
    await eventually(async () => {
      const deliveries = await readDeliveries(database.db, event.data.id);
      const shown = deliveries.map(({ endpointId, url, status }) => [endpointId, url, status]);
      expect(shown.toSorted()).toEqual(
        [
          [endpoint.id, OFFICE, 'succeeded'],
          [null, SHOP, 'succeeded'],
        ].toSorted(),
      );
    });
  });

  test.each([
    { has: 'both secrets', secret: SECRET, own: OWN_SECRET, signedWith: SECRET },
    { has: 'only that of the resource', secret: null, own: OWN_SECRET, signedWith: OWN_SECRET },
    { has: 'only its own', secret: SECRET, own: undefined, signedWith: SECRET },
    { has: 'none', secret: null, own: undefined, signedWith: null },
  ])('with the URL of the resource and $has is one, never less signed', async (given) => {
    await using receiver = await startReceiver();
    await using sender = startSenderTo(database.db, { shop: receiver });
    const { owner, anEvent } = aMerchant();
    await storeEndpoint(database.db, { ...owner, url: SHOP, secret: given.secret });
    const event = anEvent({ url: SHOP, ...(given.own === undefined ? {} : { secret: given.own }) });
    await take(database.db, event, { wakeSenders: sender.wake });
    await untilDelivery(database.db, event.data.id, { status: 'succeeded', url: SHOP });
    expect(receiver.requests).toHaveLength(1);
    const [request] = receiver.requests;
    if (given.signedWith !== null) expect(isSignedWith(given.signedWith, request!)).toBe(true);
    else expect(request!.headers).not.toHaveProperty('x-webhook-signature');
  });

  test('without a secret stays unsigned where its URL is not that of the resource', async () => {
    await using receiver = await startReceiver();
    await using sender = startSenderTo(database.db, { shop: receiver, office: receiver });
    const { owner, anEvent } = aMerchant();
    await storeEndpoint(database.db, { ...owner, url: OFFICE });
    await take(database.db, anEvent({ url: SHOP, secret: OWN_SECRET }), {
      wakeSenders: sender.wake,
    });
    await eventually(() => expect(receiver.requests).toHaveLength(2));
    const toOffice = receiver.requests.find(({ headers }) => headers.host?.includes('office'));
    expect(toOffice!.headers).not.toHaveProperty('x-webhook-signature');
  });

  test('fails with a secret that was sealed for another endpoint; nothing is sent unsigned', async () => {
    await using receiver = await startReceiver();
    await using sender = startSenderTo(database.db, { shop: receiver });
    const { owner, anEvent } = aMerchant();
    const events = ['charge.pix.paid'];
    const other = await storeEndpoint(database.db, { ...owner, secret: SECRET, events });
    const endpoint = await storeEndpoint(database.db, { ...owner, url: SHOP });
    await database.db.query(sql`
      update endpoints
      set sealed_secret = (select sealed_secret from endpoints where id = ${other.id})
      where id = ${endpoint.id}`);
    const event = anEvent();
    await take(database.db, event, { wakeSenders: sender.wake });
    const delivery = await untilDelivery(database.db, event.data.id, { attempts: [{ number: 1 }] });
    expect(delivery.attempts[0]?.error).toMatch(/^secret_unreadable/);
    expect(receiver.requests).toEqual([]);
  });
});

describe('an endpoint that changes while a retry waits', () => {
  test('gets it at its new URL under its new secret, with the same id and bytes', async () => {
    await using old = await startReceiver(answerWith(500));
    await using next = await startReceiver();
    await using sender = startSenderTo(database.db, { shop: old, office: next });
    const { owner, anEvent } = aMerchant();
    const endpoint = await storeEndpoint(database.db, { ...owner, url: SHOP, secret: SECRET });
    const event = anEvent();
    await take(database.db, event, { wakeSenders: sender.wake });
    await untilDelivery(database.db, event.data.id, { url: SHOP, attempts: [{ number: 1 }] });
    await patchEndpoint(database.db, endpoint, { url: OFFICE, secret: NEW_SECRET });
    sender.advance(RETRY_DELAYS_MS[0]);
    await untilDelivery(database.db, event.data.id, { status: 'succeeded', url: OFFICE });
    const [first, second] = [old.requests[0]!, next.requests[0]!];
    expect([old.requests.length, next.requests.length]).toEqual([1, 1]);
    expect(second.body.equals(first.body)).toBe(true);
    expect(second.headers['x-webhook-delivery']).toBe(first.headers['x-webhook-delivery']);
    expect(isSignedWith(SECRET, first)).toBe(true);
    expect(isSignedWith(NEW_SECRET, second)).toBe(true);
  });

  test('and loses its secret is signed with that of the resource from then on', async () => {
    await using receiver = await startReceiver(answerWith(500));
    await using sender = startSenderTo(database.db, { shop: receiver });
    const { owner, anEvent } = aMerchant();
    const endpoint = await storeEndpoint(database.db, { ...owner, url: SHOP, secret: SECRET });
    const event = anEvent({ url: SHOP, secret: OWN_SECRET });
    await take(database.db, event, { wakeSenders: sender.wake });
    await untilDelivery(database.db, event.data.id, { attempts: [{ number: 1 }] });
    await patchEndpoint(database.db, endpoint, { secret: null });
    sender.advance(RETRY_DELAYS_MS[0]);
    await untilDelivery(database.db, event.data.id, { attempts: [{ number: 1 }, { number: 2 }] });
    expect(isSignedWith(SECRET, receiver.requests[0]!)).toBe(true);
    expect(isSignedWith(OWN_SECRET, receiver.requests[1]!)).toBe(true);
  });
});

describe('the lane of an endpoint', () => {
  test('is the endpoint, wherever it points to, and is bounded as any other', async () => {
    await using receiver = await startReceiver(hang);
    const { owner, anEvent } = aMerchant();
    const endpoint = await storeEndpoint(database.db, { ...owner, url: SHOP });
    await storeEndpoint(database.db, { ...owner, url: OFFICE });
    await take(
      database.db,
      Array.from({ length: 8 }, () => anEvent()),
    );
    await patchEndpoint(database.db, endpoint, { url: OFFICE });
    const bounds = { inFlightPerLaneMax: 3 };
    await using _sender = startSenderTo(database.db, { office: receiver }, bounds);
    await eventually(() => expect(receiver.requests).toHaveLength(6));
    const lanes = await database.db.query(sql`select id from lanes where leased`);
    expect(lanes).toHaveLength(2);
  });
});
