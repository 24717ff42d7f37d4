import { generateSealingKeyPair } from '@pixmesh/kernel/sealed-secret';
import { verifyWebhookSignature } from '@pixmesh/kernel/webhook-signature';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { anApplication } from '#test/an-application.ts';
import { HOOK_URL as SHOP } from '#test/a-resource-envelope.ts';
import { mergedKeys, storeSealed } from '#test/sealed-rows.ts';
import { startReceiver } from '#test/start-receiver.ts';
import { patchEndpoint, storeEndpoint } from '#test/store-endpoint.ts';
import { take } from '#test/store-event.ts';
import { sealingKeys } from '#test/test-dispatcher.ts';
import { startSenderTo } from '#test/test-sender.ts';

import { startResealing } from './resealing.job.ts';
import { countOtherVersions } from './sealed-secrets.sql.ts';

const NEW = generateSealingKeyPair('v2');
const BOTH = mergedKeys(sealingKeys, NEW);
const ENDPOINT_SECRET = 'whsec_endpoint_0001';
const CHANGED_SECRET = 'whsec_endpoint_0002';
const RESOURCE_SECRET = 'whsec_resource_0001';
/** Enough that the rotation has something to do while deliveries go out. */
const OTHERS = 300;
const ROUNDS = 20;

test('a rotation while deliveries go out leaves each of them signed, and the old key may go afterwards', async () => {
  await using database = await createTestDatabase('webhook_dispatcher');
  const { db } = database;
  await using receiver = await startReceiver();
  const application = anApplication();
  const office = 'http://office.receiver.example.com/hook';
  const endpoint = await storeEndpoint(db, {
    ...application.owner,
    url: office,
    secret: ENDPOINT_SECRET,
  });
  for (const table of ['endpoints', 'destinations'] as const) {
    await storeSealed(db, { table, key: sealingKeys, count: OTHERS });
  }
  const receivers = { shop: receiver, office: receiver };
  /** One delivery to the URL of a new resource, whose secret is still sealed to the old key, one to the endpoint. */
  const publish = async (): Promise<void> => {
    const secret = { clear: RESOURCE_SECRET, publicKey: sealingKeys.publicKey };
    await take(db, application.anEvent({ url: SHOP, secret }));
  };
  {
    await using sender = startSenderTo(db, receivers, { sealingPrivateKeys: BOTH });
    const logger = createLogger('test', 'silent');
    const options = { db, logger, privateKeys: BOTH, startDelayMs: 0, idleMs: 20 };
    await using _resealing = startResealing(options);
    for (let round = 0; round < ROUNDS; round += 1) {
      await publish();
      // In the middle of it all, and sealed to the old key as well.
      if (round === ROUNDS / 2) await patchEndpoint(db, endpoint, { secret: CHANGED_SECRET });
      sender.wake();
    }
    await untilReceived(2 * ROUNDS);
    await eventually(async () => {
      for (const table of ['endpoints', 'destinations'] as const) {
        expect(await countOtherVersions(db, table, 'v2')).toEqual(new Map());
      }
    }, 30_000);
  }
  await using sender = startSenderTo(db, receivers, { sealingPrivateKeys: NEW.privateKeys });
  // A later event of a resource from before: its secret is the one that was re-wrapped.
  const [old] = await db.query<{ resource_id: string }>(sql`
    select resource_id from deliveries where endpoint_id is null limit 1`);
  await take(db, application.anEvent({ url: SHOP, charge: { id: old!.resource_id } }));
  sender.wake();
  await untilReceived(2 * ROUNDS + 2);
  const signers = receiver.requests.map(({ headers, body }) =>
    [ENDPOINT_SECRET, CHANGED_SECRET, RESOURCE_SECRET].filter((secret) =>
      verifyWebhookSignature(secret, body, String(headers['x-webhook-signature'])),
    ),
  );
  for (const signer of signers) expect(signer).toHaveLength(1);
  expect(signers.slice(-2).flat().toSorted()).toEqual([CHANGED_SECRET, RESOURCE_SECRET]);
  const failed = await db.query(sql`select error from attempts where outcome = 'failed'`);
  expect(failed).toEqual([]);

  async function untilReceived(count: number): Promise<void> {
    await eventually(() => expect(receiver.requests).toHaveLength(count), 30_000);
  }
}, 90_000);
