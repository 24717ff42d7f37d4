import { type AccountId, type ApplicationId, newId } from '@pixmesh/kernel/ids';
import { verifyWebhookSignature } from '@pixmesh/kernel/webhook-signature';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { RETRY_DELAYS_MS } from '#attempts/retry-schedule.ts';
import { deleteEndpoint } from '#endpoints/endpoints.sql.ts';
import { aChargeEvent } from '#test/a-charge-event.ts';
import { untilDelivery } from '#test/listed-deliveries.ts';
import { answerWith, type Receiver, startReceiver } from '#test/start-receiver.ts';
import {
  patchEndpoint,
  removeStoredEndpoint,
  storeEndpoint,
  type StoredEndpoint,
} from '#test/store-endpoint.ts';
import { take } from '#test/store-event.ts';
import { sealingKeys } from '#test/test-dispatcher.ts';
import { startSenderTo } from '#test/test-sender.ts';

const SECRET = 'whsec_endpoint_0001';
const OWN_SECRET = 'whsec_resource_0001';
const SHOP = 'http://shop.receiver.example.com/hook';
const OFFICE = 'http://office.receiver.example.com/hook';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});

afterAll(() => database[Symbol.asyncDispose]());

/** An endpoint with exactly the URL of a charge, and the event of the charge that it stands for. */
async function aPair(given: { secret?: string | null; ownSecret?: string | null } = {}) {
  const { secret = SECRET, ownSecret = OWN_SECRET } = given;
  const owner = { accountId: newId<AccountId>(), applicationId: newId<ApplicationId>() };
  const endpoint = await storeEndpoint(database.db, { ...owner, url: SHOP, secret });
  const sealed = { clear: ownSecret ?? '', publicKey: sealingKeys.publicKey };
  const event = aChargeEvent({
    account_id: owner.accountId,
    application_id: owner.applicationId,
    url: SHOP,
    ...(ownSecret === null ? {} : { secret: sealed }),
  });
  return { endpoint, event };
}

function signedWith({ headers, body }: Receiver['requests'][number]): string | null {
  const signature = headers['x-webhook-signature'];
  if (signature === undefined) return null;
  const secrets = [SECRET, OWN_SECRET];
  return secrets.find((secret) => verifyWebhookSignature(secret, body, String(signature))) ?? '?';
}

/** Changes of an endpoint after which it stands for no URL of a resource. */
const changes: Record<string, (endpoint: StoredEndpoint) => Promise<unknown>> = {
  'is paused': (endpoint) => patchEndpoint(database.db, endpoint, { active: false }),
  'is deleted': (endpoint) => removeStoredEndpoint(database.db, endpoint),
  'is deleted by a process that dies over it': (endpoint) =>
    database.db.transaction((tx) => deleteEndpoint(tx, endpoint, endpoint.id)),
  'moves to another URL': (endpoint) => patchEndpoint(database.db, endpoint, { url: OFFICE }),
  'moves to what is the same URL in other words': (endpoint) =>
    patchEndpoint(database.db, endpoint, { url: SHOP.replace('.com/', '.com:80/') }),
  'has its application deactivated': ({ id }) =>
    database.db.query(
      sql`update endpoints set application_inactive_since = now() where id = ${id}`,
    ),
};

describe.each(Object.entries(changes))(
  'an event for an endpoint and its resource alike, where the endpoint %s,',
  (_name, change) => {
    test('goes to the URL of the resource under the secret of the resource', async () => {
      await using both = await startBoth();
      const { shop, office } = both;
      const { endpoint, event } = await aPair();
      await take(database.db, event);
      await change(endpoint);
      await using _sender = startSenderTo(database.db, both);
      await untilDelivery(database.db, event.data.id, {
        status: 'succeeded',
        endpointId: endpoint.id,
        url: SHOP,
      });
      expect(shop.requests.map(signedWith)).toEqual([OWN_SECRET]);
      expect(office.requests).toEqual([]);
    });

    test('stays signed with that of the endpoint where the resource has none', async () => {
      await using both = await startBoth();
      const { endpoint, event } = await aPair({ ownSecret: null });
      await take(database.db, event);
      await change(endpoint);
      await using _sender = startSenderTo(database.db, both);
      await untilDelivery(database.db, event.data.id, { status: 'succeeded', url: SHOP });
      expect(both.shop.requests.map(signedWith)).toEqual([SECRET]);
    });

    test('has its retries go on there, at their time, with the same bytes', async () => {
      await using both = await startBoth(500);
      const { shop, office } = both;
      await using sender = startSenderTo(database.db, both);
      const { endpoint, event } = await aPair();
      await take(database.db, event, { wakeSenders: sender.wake });
      await untilDelivery(database.db, event.data.id, { attempts: [{ number: 1 }] });
      await change(endpoint);
      sender.advance(RETRY_DELAYS_MS[0]);
      const twice = { status: 'pending', url: SHOP, attempts: [{ number: 1 }, { number: 2 }] };
      await untilDelivery(database.db, event.data.id, twice);
      expect(shop.requests.map(signedWith)).toEqual([SECRET, OWN_SECRET]);
      const [first, second] = shop.requests;
      expect(second!.body.equals(first!.body)).toBe(true);
      expect(office.requests).toEqual([]);
    });
  },
);

describe('an event for an endpoint and its resource alike', () => {
  test('is unsigned only where neither has a secret', async () => {
    await using both = await startBoth();
    const { endpoint, event } = await aPair({ secret: null, ownSecret: null });
    await take(database.db, event);
    await patchEndpoint(database.db, endpoint, { active: false });
    await using _sender = startSenderTo(database.db, both);
    await untilDelivery(database.db, event.data.id, { status: 'succeeded' });
    expect(both.shop.requests.map(signedWith)).toEqual([null]);
  });

  test('is under the secret of the endpoint again once that is back', async () => {
    await using both = await startBoth(500);
    const { shop } = both;
    const { endpoint, event } = await aPair();
    await take(database.db, event);
    await patchEndpoint(database.db, endpoint, { active: false, url: OFFICE });
    await using sender = startSenderTo(database.db, both);
    await untilDelivery(database.db, event.data.id, { attempts: [{ number: 1 }] });
    await patchEndpoint(database.db, endpoint, { active: true, url: SHOP });
    sender.advance(RETRY_DELAYS_MS[0]);
    await untilDelivery(database.db, event.data.id, { attempts: [{ number: 1 }, { number: 2 }] });
    expect(shop.requests.map(signedWith)).toEqual([OWN_SECRET, SECRET]);
  });
});

async function startBoth(status = 200) {
  const [shop, office] = [
    await startReceiver(answerWith(status)),
    await startReceiver(answerWith(status)),
  ];
  return {
    shop,
    office,
    [Symbol.asyncDispose]: async () => {
      await shop[Symbol.asyncDispose]();
      await office[Symbol.asyncDispose]();
    },
  };
}
