import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { createMeshDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { auditFolder, descriptionPath, listWhole } from './backup-folder.ts';
import { exportAudit } from './export-audit.ts';
import { prepareRestored } from './prepare-restored.ts';

const NOTHING = { keys: [], operators: [], accounts: [], stops: [], applications: [] };

/** What operators closed after a moment, in a database that is as it was before. */
let database: TestDatabase;
let folder: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  database = await createMeshDatabase('gateway');
  folder = mkdtempSync(path.join(tmpdir(), 'pixmesh-audit-'));
  const identity = await generateIdentity();
  env = {
    NODE_ENV: 'test',
    BACKUP_DIR: folder,
    BACKUP_RECIPIENT: await identityToRecipient(identity),
    BACKUP_IDENTITY: identity,
    BACKUP_DATABASE_URL: database.adminUrl,
    ADMIN_DATABASE_URL: database.adminUrl,
  };
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

test('what was closed is closed again, what was open stays open, and payouts are stopped', async () => {
  const application = await anApplicationOf(await anAccount());
  const [revoked, live, suspended] = [
    await aKeyOf(application),
    await aKeyOf(application),
    await aKeyOf(application),
  ];
  const operator = randomUUID();
  await run('insert into gateway.operators (id, name, token_digest) values ($1, $2, $3)', [
    operator,
    'Bia',
    randomBytes(32),
  ]);
  expect(await exportAudit(env)).toBe(0);
  await run('update gateway.api_keys set revoked_at = now() where id = $1', [revoked]);
  await run('update gateway.api_keys set suspended = true where id = $1', [suspended]);
  await run('update gateway.operators set removed_at = now() where id = $1', [operator]);
  await audit('key.revoked', revoked);
  await audit('key.updated', suspended);
  await audit('operator.removed', operator);
  expect(await exportAudit(env)).toBe(3);
  // As a restore leaves it.
  await run('update gateway.api_keys set revoked_at = null, suspended = false');
  await run('update gateway.operators set removed_at = null');
  await run('delete from gateway.audit_log');

  const prepared = await prepareRestored({ at: new Date() }, env);
  expect(prepared).toMatchObject({
    closed: { operators: [operator], accounts: [], applications: [] },
    isNewlyStopped: true,
  });
  expect(prepared.closed.keys.toSorted()).toEqual([revoked, suspended].toSorted());
  expect(prepared.lostEntries.map(({ action }) => action).toSorted()).toEqual([
    'key.revoked',
    'key.updated',
    'operator.removed',
  ]);
  expect(
    await run(
      'select id, revoked_at is not null as revoked, suspended from gateway.api_keys order by id',
    ),
  ).toEqual(
    [
      { id: revoked, revoked: true, suspended: false },
      { id: live, revoked: false, suspended: false },
      { id: suspended, revoked: false, suspended: true },
    ].toSorted((a, b) => a.id.localeCompare(b.id)),
  );
  expect(await run('select removed_at is not null as removed from gateway.operators')).toEqual([
    { removed: true },
  ]);
  expect(await run('select account_id, set_by, ended_at from payouts.payout_stops')).toEqual([
    { account_id: null, set_by: 'restore', ended_at: null },
  ]);

  expect(await prepareRestored({ at: new Date() }, env)).toMatchObject({
    closed: NOTHING,
    lostEntries: [],
    isNewlyStopped: false,
  });
});

test('an account that operators restricted is restricted again, and its own stop is in force again', async () => {
  const at = new Date();
  const [reviewed, manual, stopped, rejected] = [
    await anAccount(),
    await anAccount(),
    await anAccount(),
    await anAccount(),
  ];
  await run("update gateway.accounts set onboarding_status = 'in_review' where id = $1", [
    reviewed,
  ]);
  await run('update gateway.accounts set auto_payout_enabled = false where id = $1', [manual]);
  await run(
    "update gateway.accounts set onboarding_status = 'rejected', status = 'inactive' where id = $1",
    [rejected],
  );
  const stop = await aStopOf(stopped);
  for (const account of [reviewed, manual, rejected]) await auditUpdates({ account });
  await audit('payouts.stopped', stopped);
  await exportAudit(env);
  // As a restore leaves it.
  await run(
    "update gateway.accounts set status = 'active', onboarding_status = 'approved', auto_payout_enabled = true where id = any($1)",
    [[reviewed, manual, rejected]],
  );
  await run('delete from payouts.payout_stops where id = $1', [stop]);

  const { closed } = await prepareRestored({ at }, env);
  expect(closed.accounts.toSorted()).toEqual([reviewed, manual, rejected].toSorted());
  expect(closed.stops).toEqual([stopped]);
  const restricted = (id: string) =>
    run(
      'select status, onboarding_status, auto_payout_enabled from gateway.accounts where id = $1',
      [id],
    );
  expect(await restricted(reviewed)).toEqual([
    { status: 'active', onboarding_status: 'in_review', auto_payout_enabled: true },
  ]);
  expect(await restricted(manual)).toEqual([
    { status: 'active', onboarding_status: 'approved', auto_payout_enabled: false },
  ]);
  expect(await restricted(rejected)).toEqual([
    { status: 'inactive', onboarding_status: 'rejected', auto_payout_enabled: true },
  ]);
  const stopsOf = () =>
    run('select id, reason, ended_at from payouts.payout_stops where account_id = $1', [stopped]);
  expect(await stopsOf()).toEqual([{ id: stop, reason: 'fraud', ended_at: null }]);

  await run('update payouts.payout_stops set ended_at = now(), ended_by = $1 where id = $2', [
    randomUUID(),
    stop,
  ]);
  expect((await prepareRestored({ at }, env)).closed).toEqual(NOTHING);
  expect(await stopsOf()).toEqual([{ id: stop, reason: 'fraud', ended_at: expect.any(Date) }]);
});

test('a stop that was resumed after the moment stays ended', async () => {
  const at = new Date();
  const account = await anAccount();
  const stop = await aStopOf(account);
  await audit('payouts.stopped', account);
  await exportAudit(env);
  await run('update payouts.payout_stops set ended_at = now(), ended_by = $1 where id = $2', [
    randomUUID(),
    stop,
  ]);
  await audit('payouts.resumed', account);
  await exportAudit(env);
  await run('delete from payouts.payout_stops where id = $1', [stop]);

  expect((await prepareRestored({ at }, env)).closed.stops).toEqual([]);
});

test('a restored database is exported only after it was prepared: a key that was revoked stays revoked', async () => {
  const key = await aKeyOf(await anApplicationOf(await anAccount()));
  await audit('key.created', key);
  const at = new Date();
  await run('update gateway.api_keys set revoked_at = now() where id = $1', [key]);
  await audit('key.revoked', key);
  await exportAudit(env);
  // As a restore leaves it: the entry of the creation is in the database, and that of the revocation is not.
  await run('update gateway.api_keys set revoked_at = null where id = $1', [key]);
  await run("delete from gateway.audit_log where target_id = $1 and action = 'key.revoked'", [key]);

  await expect(exportAudit(env)).rejects.toThrow('a restored database is prepared first');
  expect((await prepareRestored({ at }, env)).closed.keys).toEqual([key]);
  expect(await exportAudit(env)).toBeGreaterThan(0);
});

test('an export that is dated ahead of the clock of the server ends none behind it in silence', async () => {
  const key = await aKeyOf(await anApplicationOf(await anAccount()));
  await audit('key.created', key);
  await exportAudit(env);
  const last = descriptionPath(auditFolder(folder), listWhole(auditFolder(folder)).at(-1) ?? '');
  const text = readFileSync(last, 'utf8');
  const exported_at = new Date(Date.now() + 3_600_000).toISOString();
  writeFileSync(last, JSON.stringify({ ...JSON.parse(text), exported_at }));

  await audit('key.revoked', key);
  await expect(exportAudit(env)).rejects.toThrow(`past its last export, ${exported_at}`);
  writeFileSync(last, text);
  expect(await exportAudit(env)).toBeGreaterThan(0);
});

test('what was closed and opened again after the moment stays open', async () => {
  const at = new Date();
  const account = await anAccount();
  const application = await anApplicationOf(account);
  const key = await aKeyOf(application);
  await run("update gateway.accounts set status = 'inactive' where id = $1", [account]);
  await run('update gateway.applications set active = false where id = $1', [application]);
  await run('update gateway.api_keys set suspended = true where id = $1', [key]);
  await auditUpdates({ account, application, key });
  await exportAudit(env);
  await run("update gateway.accounts set status = 'active' where id = $1", [account]);
  await run('update gateway.applications set active = true where id = $1', [application]);
  await run('update gateway.api_keys set suspended = false where id = $1', [key]);
  await auditUpdates({ account, application, key });
  await exportAudit(env);

  expect((await prepareRestored({ at }, env)).closed).toEqual(NOTHING);
});

test('what was closed long before the moment is as the restored database has it', async () => {
  const account = await anAccount();
  await run("update gateway.accounts set status = 'inactive' where id = $1", [account]);
  await auditUpdates({ account });
  await exportAudit(env);
  await run("update gateway.accounts set status = 'active' where id = $1", [account]);
  const exportedAt = Date.now();

  const [long, briefly] = [new Date(exportedAt + 300_000), new Date(exportedAt + 1000)];
  expect((await prepareRestored({ at: long }, env)).closed).toEqual(NOTHING);
  expect((await prepareRestored({ at: briefly }, env)).closed.accounts).toEqual([account]);
});

test('a database that a service is connected to is refused', async () => {
  const service = new pg.Client({ connectionString: database.url });
  await service.connect();
  try {
    await expect(prepareRestored({ at: new Date() }, env)).rejects.toThrow('pixmesh_gateway');
  } finally {
    await service.end();
  }
});

async function anAccount(): Promise<string> {
  const id = randomUUID();
  await run(
    `insert into gateway.accounts (id, name, legal_name, document, document_type, phone, status, onboarding_status,
       auto_payout_enabled, payouts_enabled, payout_fee, charge_expires_in, release_delay_seconds, late_payment_policy)
     values ($1, 'Loja', 'Loja Ltda', '11222333000181', 'cnpj', '', 'active', 'approved', true, true, 0, 3600, 0, 'accept')`,
    [id],
  );
  return id;
}

async function aStopOf(account: string): Promise<string> {
  const id = randomUUID();
  await run(
    "insert into payouts.payout_stops (id, account_id, reason, set_by) values ($1, $2, 'fraud', 'Bia')",
    [id, account],
  );
  return id;
}

async function anApplicationOf(account: string): Promise<string> {
  const id = randomUUID();
  await run(
    "insert into gateway.applications (id, account_id, name, active, version, fingerprint) values ($1, $2, 'Site', true, 1, '')",
    [id, account],
  );
  return id;
}

async function aKeyOf(application: string): Promise<string> {
  const id = randomUUID();
  await run(
    `insert into gateway.api_keys (id, application_id, public_id, digest, name, scopes, fingerprint)
     values ($1, $2, $3, $4, 'key', '{}', '')`,
    [id, application, id, randomBytes(32)],
  );
  return id;
}

async function auditUpdates(targets: Readonly<Record<string, string>>): Promise<void> {
  for (const [kind, id] of Object.entries(targets)) await audit(`${kind}.updated`, id);
}

async function audit(action: string, target: string): Promise<void> {
  await run(
    `insert into gateway.audit_log (id, actor, action, target_kind, target_id)
     values (uuidv7(), 'bootstrap', $1, $2, $3)`,
    [action, action.split('.')[0], target],
  );
}

async function run(statement: string, values: readonly unknown[] = []): Promise<object[]> {
  const client = new pg.Client({ connectionString: database.adminUrl });
  await client.connect();
  try {
    return (await client.query<object>(statement, [...values])).rows;
  } finally {
    await client.end();
  }
}
