import { createHash, randomUUID } from 'node:crypto';

import { currentAccount, OWN_WORK, runForAccount } from '@pixmesh/fair-share/current-account';
import { newId } from '@pixmesh/kernel/ids';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { startTestGateway, type Tenant, type TestGateway } from '#test/start-test-gateway.ts';

import { findUsableKeys, type PresentedKey } from './find-keys.sql.ts';
import { createKeyLookups } from './key-lookups.ts';

let gateway: TestGateway;
let tenant: Tenant;
beforeAll(async () => {
  gateway = await startTestGateway();
  tenant = await gateway.createTenant();
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** The gateway's database, with the accounts in whose turns statements go to it. */
function counted(): { db: Database; count: () => number; accounts: string[] } {
  const { db } = gateway.database;
  const accounts: string[] = [];
  const query: Database['query'] = (statement) => {
    accounts.push(currentAccount());
    return db.query(statement);
  };
  return { db: { ...db, query }, count: () => accounts.length, accounts };
}

async function storeKeys(count: number): Promise<(PresentedKey & { id: string })[]> {
  const keys = Array.from({ length: count }, () => {
    const publicId = randomUUID();
    const digest = createHash('sha256').update(publicId).digest();
    return { id: newId(), publicId, digest, otherDigest: null };
  });
  await gateway.database.db.query(sql`
    insert into api_keys (id, application_id, public_id, digest, name, scopes, fingerprint)
    select id, ${tenant.applicationId}, public_id, digest, 'many', '{}', ''
    from unnest(
      ${keys.map(({ id }) => id)}::uuid[], ${keys.map(({ publicId }) => publicId)}::text[],
      ${keys.map(({ digest }) => digest)}::bytea[]
    ) as key (id, public_id, digest)`);
  return keys;
}

test('a thousand requests of one key at one moment take three reads', async () => {
  const [key] = await storeKeys(1);
  const { db, count } = counted();
  const lookUp = createKeyLookups(db);
  const found = await Promise.all(Array.from({ length: 1_000 }, () => lookUp(key as PresentedKey)));
  expect(new Set(found.map(({ key_id }) => key_id))).toEqual(new Set([key?.id]));
  expect(count()).toBeLessThanOrEqual(3);
});

test('keys are read in the turns of no account, for requests of any', async () => {
  const keys = await storeKeys(3);
  const { db, accounts } = counted();
  const lookUp = createKeyLookups(db);
  await Promise.all(keys.map((key) => runForAccount(tenant.accountId, () => lookUp(key))));
  expect(new Set(accounts)).toEqual(new Set([OWN_WORK]));
});

test('many keys at one moment share reads, and each gets its own answer', async () => {
  const keys = await storeKeys(250);
  const unknown = { publicId: 'nobody', digest: Buffer.alloc(32), otherDigest: null };
  const otherSecret = { ...unknown, publicId: keys[0]?.publicId ?? '' };
  const { db, count } = counted();
  const lookUp = createKeyLookups(db);
  const found = await Promise.all([...keys, unknown, otherSecret].map(lookUp));
  expect(found.map(({ key_id }) => key_id)).toEqual([...keys.map(({ id }) => id), null, null]);
  expect(found.map(({ is_known }) => is_known)).toEqual([...keys.map(() => true), false, false]);
  expect(count()).toBeLessThan(10);
});

test('what is asked after a read began is answered by a later one', async () => {
  const [key] = await storeKeys(1);
  const presented = key as PresentedKey;
  const { db } = gateway.database;
  const lookUp = createKeyLookups(db);
  const before = [lookUp(presented), lookUp(presented)];
  await db.query(sql`update api_keys set revoked_at = now() where id = ${key?.id}`);
  expect(await lookUp(presented)).toMatchObject({ key_id: null, is_known: true });
  await Promise.all(before);
});

test('a read that fails fails those who waited for it, and no later ones', async () => {
  const [key] = await storeKeys(1);
  const { db } = gateway.database;
  let isAway = true;
  const query: Database['query'] = async (statement) => {
    if (isAway) throw new Error('away');
    return await db.query(statement);
  };
  const lookUp = createKeyLookups({ ...db, query });
  const asked = await Promise.allSettled([
    lookUp(key as PresentedKey),
    lookUp(key as PresentedKey),
  ]);
  expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  isAway = false;
  expect((await lookUp(key as PresentedKey)).key_id).toBe(key?.id);
});

test('reads that get no answer do not hold up those who ask meanwhile', async () => {
  const [key] = await storeKeys(1);
  const { db } = gateway.database;
  let hung = 0;
  const query: Database['query'] = async (statement) => {
    hung += 1;
    return await (hung > 2 ? db.query(statement) : new Promise<never>(() => undefined));
  };
  const lookUp = createKeyLookups({ ...db, query });
  const digests = { digest: Buffer.alloc(32), otherDigest: null };
  for (const publicId of ['one', 'other']) void lookUp({ publicId, ...digests });
  expect(hung).toBe(2);
  expect((await lookUp(key as PresentedKey)).key_id).toBe(key?.id);
});

test('while no read gets an answer, a lookup that waits for one to begin is told so in time', async () => {
  const query: Database['query'] = () => new Promise<never>(() => undefined);
  const lookUp = createKeyLookups({ ...gateway.database.db, query });
  const asked = Array.from({ length: 5_000 }, (_, place) =>
    lookUp({ publicId: String(place), digest: Buffer.alloc(32), otherDigest: null }),
  );
  for (const lookup of asked) lookup.catch(() => undefined);
  await expect(asked.at(-1)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
}, 30_000);

test('the read is planned once for a connection, however many keys it is asked for', async () => {
  const keys = await storeKeys(40);
  const { url } = gateway.database;
  await using db = createPool({ url, applicationName: 'plans', max: 1 });
  const counts = async () => {
    const [plans] = await db.query<{ made: bigint; kept: bigint }>(sql`
      select custom_plans as made, generic_plans as kept
      from pg_prepared_statements
      where name = 'keys_find_usable'`);
    return plans;
  };
  for (const asked of [1, 1, 30, 1, 2]) await findUsableKeys(db, keys.slice(0, asked));
  const before = await counts();
  for (const asked of [1, 40, 1, 7]) await findUsableKeys(db, keys.slice(0, asked));
  expect(await counts()).toEqual({ made: before?.made, kept: (before?.kept ?? 0n) + 4n });
});
