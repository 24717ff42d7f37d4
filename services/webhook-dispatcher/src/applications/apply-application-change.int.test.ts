import { type AccountId, type ApplicationId, type EndpointId, newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { insertEndpoint, lockCreations } from '#endpoints/endpoints.sql.ts';
import { anApplication, applyChange, type TestApplication } from '#test/an-application.ts';
import { genericPlan } from '#test/generic-plan.ts';
import { storeEndpoint } from '#test/store-endpoint.ts';

import { endpointIdsStatement, markStatement } from './applications.sql.ts';

const AT = '2026-11-21T12:00:00.000Z';
const LATER = '2026-11-21T12:05:00.000Z';
const VERSIONS = 8;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});
afterAll(() => database[Symbol.asyncDispose]());

async function stored({ owner }: TestApplication): Promise<unknown[]> {
  return await database.db.query(sql`
    select account_id, active, version, changed_at
    from applications
    where application_id = ${owner.applicationId}`);
}

/** Since when the endpoint counts as one of a deactivated application. */
async function inactiveSince({ id }: { id: EndpointId }): Promise<string | null> {
  const rows = await database.db.query<{ since: Date | null }>(
    sql`select application_inactive_since as since from endpoints where id = ${id}`,
  );
  return rows[0]?.since?.toISOString() ?? null;
}

/** As `POST /v1/webhooks` does it. */
async function register({ owner }: TestApplication): Promise<{ id: EndpointId }> {
  const endpoint = { id: newId<EndpointId>(), url: 'https://a.example.org/', description: '' };
  const rest = { events: ['charge.pix.created'], sealedSecret: null, countMax: 100 };
  await database.db.transaction(async (tx) => {
    await lockCreations(tx, owner);
    await insertEndpoint(tx, owner, { ...endpoint, ...rest });
  });
  return endpoint;
}

describe('a deactivated application', () => {
  test('is kept with its version, and its endpoints with the date, until it is active again', async () => {
    const application = anApplication();
    const endpoints = [await storeEndpoint(database.db, application.owner)];
    endpoints.push(await storeEndpoint(database.db, application.owner));
    await applyChange(database.db, application.change(true));
    for (const endpoint of endpoints) expect(await inactiveSince(endpoint)).toBeNull();
    await applyChange(database.db, application.change(false, AT));
    for (const endpoint of endpoints) expect(await inactiveSince(endpoint)).toBe(AT);
    expect(await stored(application)).toEqual([
      {
        account_id: application.owner.accountId,
        active: false,
        version: 2,
        changed_at: new Date(AT),
      },
    ]);
    await applyChange(database.db, application.change(true, LATER));
    for (const endpoint of endpoints) expect(await inactiveSince(endpoint)).toBeNull();
    expect(await stored(application)).toMatchObject([{ active: true, version: 3 }]);
  });

  test('leaves the endpoints of others alone, of its own account too, and deleted ones', async () => {
    const application = anApplication();
    const { owner } = application;
    const other = await storeEndpoint(database.db, { accountId: owner.accountId });
    const deleted = await storeEndpoint(database.db, { ...owner, deletedAt: new Date() });
    const foreign = await storeEndpoint(database.db, { applicationId: owner.applicationId });
    await applyChange(database.db, application.change(false));
    for (const endpoint of [other, deleted, foreign]) {
      expect(await inactiveSince(endpoint)).toBeNull();
    }
  });

  test('that comes back leaves an endpoint paused that was paused by itself', async () => {
    const application = anApplication();
    const paused = await storeEndpoint(database.db, { ...application.owner, active: false });
    await applyChange(database.db, application.change(false));
    await applyChange(database.db, application.change(true));
    const rows = await database.db.query(sql`select active from endpoints where id = ${paused.id}`);
    expect(rows).toEqual([{ active: false }]);
  });

  test('has it noted on an endpoint that is registered late, until it comes back', async () => {
    const application = anApplication();
    await applyChange(database.db, application.change(false, AT));
    const late = await register(application);
    expect(await inactiveSince(late)).toBe(AT);
    await applyChange(database.db, application.change(true));
    expect(await inactiveSince(late)).toBeNull();
    expect(await inactiveSince(await register(application))).toBeNull();
  });

  test('misses none of the endpoints that are registered at the same moment', async () => {
    const application = anApplication();
    const change = application.change(false, AT);
    const registering = Array.from({ length: 12 }, () => register(application));
    const [endpoints] = await Promise.all([
      Promise.all(registering),
      applyChange(database.db, change),
    ]);
    for (const endpoint of endpoints) expect(await inactiveSince(endpoint)).toBe(AT);
  });
});

describe('what is announced of an application', () => {
  test('has no effect when it comes again', async () => {
    const application = anApplication();
    const endpoint = await storeEndpoint(database.db, application.owner);
    const changes = [application.change(true), application.change(false, AT)];
    for (const change of [...changes, ...changes, ...changes])
      await applyChange(database.db, change);
    expect(await inactiveSince(endpoint)).toBe(AT);
    expect(await stored(application)).toMatchObject([{ active: false, version: 2 }]);
  });

  test('holds for an application of which nothing was announced before, whatever its version', async () => {
    const application = anApplication();
    const endpoint = await storeEndpoint(database.db, application.owner);
    for (const active of [true, false, true]) application.change(active);
    await applyChange(database.db, application.change(false, AT));
    expect(await inactiveSince(endpoint)).toBe(AT);
    expect(await stored(application)).toMatchObject([{ active: false, version: 4 }]);
  });

  test('ends in its newest version, in whatever order and however often it comes', async () => {
    const turn = fc.integer({ min: 0, max: VERSIONS - 1 });
    const turns = fc.array(turn, { minLength: 1, maxLength: 2 * VERSIONS });
    await fc.assert(
      fc.asyncProperty(turns, fc.boolean(), async (order, isParallel) => {
        const application = anApplication();
        const endpoint = await storeEndpoint(database.db, application.owner);
        const changes = Array.from({ length: VERSIONS }, (_, index) =>
          application.change(index % 2 === 0, new Date(Date.parse(AT) + index).toISOString()),
        );
        const handed = order.map((index) => changes[index]!);
        if (isParallel) await Promise.all(handed.map((change) => applyChange(database.db, change)));
        else for (const change of handed) await applyChange(database.db, change);
        const newest = changes[Math.max(...order)]!;
        const { active, version } = newest.data;
        expect(await stored(application)).toMatchObject([{ active, version }]);
        expect(await inactiveSince(endpoint)).toBe(active ? null : newest.occurred_at);
      }),
      { numRuns: scaled(40, 500) },
    );
  }, 300_000);
});

test('endpoints of an application are found through an index, also by a plan made while there were none', async () => {
  await using empty = await createTestDatabase('webhook_dispatcher');
  const state = {
    accountId: newId<AccountId>(),
    applicationId: newId<ApplicationId>(),
    active: false,
    version: 2,
    changedAt: AT,
  };
  for (const statement of [markStatement(state), endpointIdsStatement(state)]) {
    const plan = await genericPlan(empty.db, statement);
    expect(plan.scans).toEqual([]);
    expect(plan.text).toMatch(/Index Scan using endpoints_(application|account) /);
  }
});
