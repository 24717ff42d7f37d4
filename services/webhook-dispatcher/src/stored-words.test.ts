import { armFailpoints } from '@pixmesh/service/failpoints';
import { createLogger } from '@pixmesh/telemetry/logger';
import { readStoredStates } from '@pixmesh/testkit/read-stored-states';
import { recordStatements } from '@pixmesh/testkit/record-statements';
import { expect, test } from 'vitest';

import { applicationEventsIntake } from '#applications/application-events.consumer.ts';
import { lockCreations } from '#endpoints/endpoints.sql.ts';
import { failpoint } from '#failpoints.ts';
import { deliveryIdOf } from '#deliveries/delivery-id-of.ts';
import { laneOf } from '#lanes/lane-of.ts';
import { resourceEventsIntake } from '#intake/resource-events.consumer.ts';
import { takeRecoveriesLease } from '#recoveries/recoveries.sql.ts';
import { fingerprintOf, readOrder } from '#recoveries/request-recovery.ts';
import { takeResealingLease } from '#resealing/sealed-secrets.sql.ts';
import { enforceRetention } from '#retention/enforce-retention.sql.ts';

// These words stand in tables, digests and at the broker. A test that fails says that stored meaning has changed: mend
// the code, never the expected value.

const ACCOUNT_ID = '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a001';
const APPLICATION_ID = '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a002';
const EVENT_ID = '019ab3f2-6c10-7c2e-9d5b-0a1b2c3d4e5f';
const ENDPOINT_ID = '5b1c0f6e-3f0a-5c57-9f7c-2f6a4a0f9d11';

test('a delivery keeps its id, a lane of a URL its own', () => {
  expect({
    delivery: deliveryIdOf(EVENT_ID, ENDPOINT_ID),
    lane: laneOf(ACCOUNT_ID, 'https://loja.com.br/hooks?a=1'),
    'lane of what is no URL': laneOf(ACCOUNT_ID, 'loja'),
  }).toEqual({
    delivery: '019ab3f2-6c10-7746-a21c-8c805ed58642',
    lane: 'afcdb844-a42f-5bcb-9129-be48a6e68864',
    'lane of what is no URL': 'a8a9815b-2be2-5e26-9382-9eb302e3ff4e',
  });
});

test('a recovery keeps the fingerprint of its body', () => {
  const order = readOrder({
    account_id: ACCOUNT_ID,
    application_id: APPLICATION_ID,
    endpoint_id: ENDPOINT_ID,
    event: 'charge.pix.paid',
    statuses: ['skipped', 'failed'],
    created_from: '2026-11-20T00:00:00Z',
    created_until: '2026-11-21T00:00:00Z',
    rate_per_second: 5,
  });
  expect(fingerprintOf(order).toString('hex')).toEqual(
    'f3e6d1ecd0fa991546fdc747ef99dbbdb1123680f348b5b10f7aea7f5f787b16',
  );
});

test('consumer groups keep their offsets', () => {
  const groups = [applicationEventsIntake({} as never), resourceEventsIntake({} as never)];
  expect(groups.map(({ groupId }) => groupId)).toEqual([
    'webhook-dispatcher.applications',
    'webhook-dispatcher.intake',
  ]);
});

test('tables keep their words', () => {
  expect(readStoredStates(new URL('../schema.sql', import.meta.url))).toEqual({
    attempts_outcome: ['succeeded', 'failed'],
    deliveries_status: ['pending', 'succeeded', 'failed', 'skipped', 'canceled'],
    recoveries_status: ['running', 'sending', 'completed', 'canceled'],
  });
});

test('leases and locks keep their names', async () => {
  const texts = await recordStatements(async (tx) => {
    await takeRecoveriesLease(tx);
    await takeResealingLease(tx);
    await enforceRetention({ db: tx, logger: createLogger('test', 'silent') }, 30);
    await lockCreations(tx, { accountId: ACCOUNT_ID, applicationId: APPLICATION_ID } as never);
  });
  const found = texts.map((text) => /leases where name = '(.+?)'|\('(.+?)' \|\|/.exec(text));
  const named = found.filter((one) => one !== null);
  expect(named.map((one) => one[1] ?? one[2])).toEqual([
    'recoveries',
    'resealing',
    'retention',
    'retention',
    'endpoints ',
  ]);
});

test('failpoints keep the names that tests arm', async () => {
  const actions: Record<Parameters<typeof failpoint>[0], 'error'> = {
    'webhooks.intake.after-commit': 'error',
    'webhooks.intake.after-set-aside': 'error',
    'webhooks.send.after-claim': 'error',
    'webhooks.send.after-2xx': 'error',
  };
  armFailpoints(actions);
  for (const name of Object.keys(actions) as (keyof typeof actions)[]) {
    await expect(failpoint(name)).rejects.toThrow(`failpoint ${name}`);
  }
});
