import type { TenantClaims } from '@pixmesh/contracts/internal/caller-claims';
import { newId } from '@pixmesh/kernel/ids';
import type { PayoutId } from '@pixmesh/kernel/ids';
import { generateSealingKeyPair } from '@pixmesh/kernel/sealed-secret';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import { callOwner } from '@pixmesh/testkit/mesh-calls';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { testIdentityFolder, testInfra } from '@pixmesh/testkit/test-infra';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { createTestTopics } from '@pixmesh/testkit/test-topics';

import { findAnyPayout } from '#payouts/payouts.sql.ts';

import { startLedgerProcess } from './ledger-process.ts';
import { startLossyProxy } from '@pixmesh/testkit/lossy-proxy';

// Answers are checked as they come; a wrong shape shows in an assertion.
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

export type PayoutsEnvironment = Awaited<ReturnType<typeof createPayoutsEnvironment>>;

/** Nobody listens there. */
const NO_ACQUIRER = 'http://127.0.0.1:9';

/**
 * What the service lives among: real infrastructure, a ledger, and a network between the two that a test may
 * disturb. Nothing is sent, because no slot to send in is ever free: a payout stays where its test puts it.
 */
export async function createPayoutsEnvironment() {
  const [database, topics] = await Promise.all([createTestDatabase('payouts'), createTestTopics()]);
  await restJobs(database.db);
  const ledger = await startLedgerProcess(topics);
  const network = await startLossyProxy(ledger.url, 'payouts');
  const sealing = generateSealingKeyPair();
  const { db } = database;
  return {
    ...topics,
    db,
    ledger,
    network,
    sealing,
    /** The environment of the service's process. */
    variables: {
      ...BASE_SETTINGS,
      DATABASE_URL: database.url,
      MESH_TLS_DIR: testIdentityFolder('payouts'),
      KAFKA_BROKERS: testInfra().kafkaBrokers.join(','),
      KAFKA_TOPIC_PREFIX: topics.topicPrefix,
      SCHEMA_REGISTRY_URL: testInfra().registryUrl,
      LEDGER_URL: network.url,
      DISPATCHER_URL: 'https://127.0.0.1:9',
      CHARGES_URL: 'https://127.0.0.1:9',
      WEBHOOK_SEALING_PUBLIC_KEY: sealing.publicKey,
    },
    /** The row as it stands, or null. */
    row: (id: string) => findAnyPayout(db, id as PayoutId),
    /** Events of a payout; commands of the ledger stand under the account. */
    eventsOf: (key: string) => eventsOf(db, key),
    /** A caller whose account has this much. */
    fundedCreator: async (cents: number, changes: Parameters<typeof aCreator>[0] = {}) => {
      const caller = aCreator(changes);
      await ledger.fund(caller.account_id, cents);
      return caller;
    },
    [Symbol.asyncDispose]: async () => {
      await network[Symbol.asyncDispose]();
      await ledger[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** Calls the service as the gateway does. */
export async function callPayouts(
  url: string,
  call: {
    caller: TenantClaims | null;
    route: string;
    body: unknown;
    headers?: Record<string, string> | undefined;
  },
): Promise<{
  status: number;
  headers: Awaited<ReturnType<typeof callOwner>>['headers'];
  body: Json;
}> {
  const response = await callOwner({ owner: 'payouts', url }, call);
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** A call that creates: an account of its own, automatic payouts, a fresh creation id. */
export function aCreator(
  changes: Omit<Partial<TenantClaims>, 'settings'> & {
    settings?: Partial<TenantClaims['settings']>;
  } = {},
) {
  const { settings, ...claims } = changes;
  const caller = aCaller(claims);
  return {
    ...caller,
    creation_id: claims.creation_id ?? newId(),
    settings: { ...caller.settings, ...settings },
  };
}

/** No slot to send in is ever free, and reconciliation does not run of its own accord. */
async function restJobs(db: Queryable): Promise<void> {
  await db.query(sql`update reconciliation_lease set due_at = 'infinity'`);
  await db.query(sql`
    insert into send_slots (slot, lease_token, lease_until)
    select slot, gen_random_uuid(), 'infinity' from generate_series(1, 64) as slot`);
}

async function eventsOf(
  db: Queryable,
  key: string,
): Promise<{ type: string; sequence: number | null; message: Json }[]> {
  return await db.query(
    named(
      'test_events',
      sql`select type, sequence, message from events where key = ${key} order by event_id`,
    ),
  );
}

const BASE_SETTINGS = {
  NODE_ENV: 'test',
  LOG_LEVEL: 'silent',
  INTERNAL_PORT: '0',
  PORT: '0',
  ACQUIRER_URL: NO_ACQUIRER,
  ACQUIRER_CLIENT_ID: 'client',
  ACQUIRER_CLIENT_SECRET: 'secret-of-the-client',
  ACQUIRER_PIX_KEY: '6f1c2f64-1c6d-4a2e-9d5b-0c3c1f3a9e10',
  ACQUIRER_TIMEOUT_MS: '1000',
  // Read once at boot, when nothing was sent yet; a test that is about the list shortens it.
  SENT_LIST_MS: '3600000',
  SENT_LIST_LATE_MS: '3600000',
  REQUEST_TIMEOUT_MS: '14000',
};
