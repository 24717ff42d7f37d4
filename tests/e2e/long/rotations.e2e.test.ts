import { randomBytes } from 'node:crypto';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { generateSealingKeyPair } from '@pixmesh/kernel/sealed-secret';
import { requestRestart } from '@pixmesh/local-stack/mesh/control-client';
import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { beforeAll, expect, test } from 'vitest';

import { rotateSecret } from '../../../deploy/rotate-secret.ts';
import { callbackUrl } from '../acquirer-channels.ts';
import { findBreaks } from '../find-breaks.ts';
import {
  adminBody,
  aKeyOf,
  aMerchant,
  call,
  homeOf,
  type Json,
  type Merchant,
  secretsOfHome,
  stack,
} from '../mesh.ts';
import { bootOwnStack } from '../own-stack.ts';
import { aPayingMerchant, COST_CENTS } from '../payout-calls.ts';
import { rotateAuthority } from './rotate-authority.ts';
import { type RotationLoad, startRotationLoad } from './rotation-load.ts';

/** Secrets are changed in files and by rolling restarts, as the guide says, while calls go on: none fails, and nothing is lost. */

const OURS = ['gateway', 'charges', 'payouts', 'ledger', 'webhook-dispatcher'] as const;
type Service = (typeof OURS)[number] | 'acquirer-simulator';

const LOAD_MS = Number(process.env['PIXMESH_ROTATION_SECONDS'] ?? 60) * 1_000;
const REQUESTS_PER_SECOND = Number(process.env['PIXMESH_ROTATION_RATE'] ?? 100);
const FUNDED_PAYOUTS = 5_000;
/** Restarts of every process, twice, on a busy machine. */
const ROTATION_MS_MAX = 1_200_000;
const SETTLED_MS_MAX = 180_000;

const NEXT_CLIENT_SECRET = aSecret();
const NEXT_SEALING = generateSealingKeyPair('v2');
/** No secret, so that the stack keeps it in no file of its own. */
const SEALING_PUBLIC_KEY = path.join(mkdtempSync(path.join(tmpdir(), 'pixmesh-')), 'sealing-key');
const FIRST_SEALING = generateSealingKeyPair('v1');
writeFileSync(SEALING_PUBLIC_KEY, FIRST_SEALING.publicKey);

bootOwnStack(
  'rotations',
  {
    ACQUIRER_OTHER_CLIENT_SECRET: NEXT_CLIENT_SECRET,
    WEBHOOK_SEALING_PUBLIC_KEY_FILE: SEALING_PUBLIC_KEY,
    WEBHOOK_SEALING_PRIVATE_KEYS: FIRST_SEALING.privateKeys,
    WEBHOOK_RESEALING_DELAY_MS: '60000',
  },
  ['--scale', OURS.map((name) => `${name}=2`).join(',')],
);

let shop: Merchant;
let payer: Merchant;
beforeAll(async () => {
  shop = await aMerchant();
  payer = await aPayingMerchant(FUNDED_PAYOUTS * COST_CENTS);
}, ROTATION_MS_MAX);

/** A role and a password cannot be parameters of the statement itself. */
const CHANGE_PASSWORD = sql`
  create function pg_temp.change_password(role_name text, new_password text) returns void language plpgsql as $$
  begin
    execute format('alter role %I password %L', role_name, new_password);
  end $$`;

/** `begin` prepares what the steps need; what it answers is done in turn under load, and then checked without. */
type Rotation = {
  name: string;
  begin(): Promise<{ steps: (() => Promise<unknown>)[]; refused(): Promise<unknown> }>;
};

const ROTATIONS: readonly Rotation[] = [
  { name: 'the pepper of API keys', begin: rotatePepper },
  { name: 'the secret of callbacks', begin: rotateCallbackSecret },
  { name: 'the acquirer’s credentials', begin: rotateClientSecret },
  { name: 'the keys that seal secrets of webhooks', begin: rotateSealingKey },
  { name: 'the passwords of the database', begin: rotateDatabasePasswords },
  { name: 'the bootstrap token', begin: rotateBootstrapToken },
  { name: 'the authority of the mesh', begin: () => rotateAuthority(restartEach) },
];

test.each(ROTATIONS)(
  '$name: changed under load, no call fails, no message is lost, the old one is refused',
  async ({ begin }) => {
    const { steps, refused } = await begin();
    const load = startRotationLoad({ shop, payer, requestsPerSecond: REQUESTS_PER_SECOND });
    const untilMs = performance.now() + LOAD_MS;
    try {
      for (const step of steps) await step();
      await eventually(() => expect(performance.now()).toBeGreaterThan(untilMs), LOAD_MS);
    } finally {
      await load.stop();
    }
    console.log(`${load.calls()} calls in ${steps.length} steps, ${load.failures.length} failed`);
    expect(load.failures).toEqual([]);
    await expectAllArrived(load);
    await refused();
  },
  ROTATION_MS_MAX,
);

test(
  'afterwards no service differs from another, or from the acquirer',
  async () => {
    await eventually(async () => expect(await findBreaks()).toEqual([]), SETTLED_MS_MAX);
  },
  ROTATION_MS_MAX,
);

async function expectAllArrived(load: RotationLoad): Promise<void> {
  await eventually(async () => expect(await load.findMissing()).toEqual([]), SETTLED_MS_MAX);
}

async function rotatePepper() {
  const unused = await aKeyOf(shop.applicationId);
  return {
    steps: ['add', 'swap', 'end'].map((step) => () => rotate('gateway', 'API_KEY_PEPPER', step)),
    refused: async () => expect(await readAs(unused.key)).toBe(401),
  };
}

async function rotateCallbackSecret() {
  const old = readSecret('gateway', 'CALLBACK_SECRET');
  const present = () => readSecret('gateway', 'CALLBACK_SECRET');
  return {
    steps: [
      () => rotate('gateway', 'CALLBACK_SECRET', 'add'),
      () => registerCallback(rotateSecret('CALLBACK_SECRET', 'swap', present())),
      () => rotate('gateway', 'CALLBACK_SECRET', 'swap'),
      () => rotate('gateway', 'CALLBACK_SECRET', 'end'),
    ],
    refused: async () => {
      const body = { pix: [] };
      const statusOf = async (secret: string) =>
        (await call(callbackUrl(secret), { method: 'POST', body })).status;
      expect([await statusOf(old), await statusOf(present())]).toEqual([401, 200]);
    },
  };
}

async function rotateClientSecret() {
  const old = readSecret('charges', 'ACQUIRER_CLIENT_SECRET');
  return {
    steps: [() => change(['charges', 'payouts'], { ACQUIRER_CLIENT_SECRET: NEXT_CLIENT_SECRET })],
    refused: async () => {
      await change(['acquirer-simulator'], { ACQUIRER_CLIENT_SECRET: NEXT_CLIENT_SECRET });
      expect(await askForToken(old)).toBe(401);
      expect(await askForToken(NEXT_CLIENT_SECRET)).toBe(200);
      // What charges still has open to the former process of the acquirer fails once.
      await eventually(async () => expect(await createAs(shop.key)).toBe(201), SETTLED_MS_MAX);
    },
  };
}

async function rotateSealingKey() {
  const both = JSON.stringify({
    ...(JSON.parse(FIRST_SEALING.privateKeys) as object),
    ...(JSON.parse(NEXT_SEALING.privateKeys) as object),
  });
  return {
    steps: [
      () => change(['webhook-dispatcher'], { WEBHOOK_SEALING_PRIVATE_KEYS: both }),
      async () => {
        writeFileSync(SEALING_PUBLIC_KEY, NEXT_SEALING.publicKey);
        await change(['webhook-dispatcher', 'charges', 'payouts'], {});
      },
      () => eventually(expectResealed, SETTLED_MS_MAX),
      () =>
        change(['webhook-dispatcher'], {
          WEBHOOK_SEALING_PRIVATE_KEYS: NEXT_SEALING.privateKeys,
        }),
    ],
    refused: expectResealed,
  };
}

async function expectResealed(): Promise<void> {
  await using db = openDatabase();
  const rows = await db.query<{ version: string; destinations: number }>(sql`
    select split_part(sealed_secret, '.', 3) as version, count(*)::int as destinations
    from webhook_dispatcher.destinations
    where sealed_secret is not null
    group by 1`);
  expect(rows.map(({ version }) => version)).toEqual(['v2']);
}

async function rotateDatabasePasswords() {
  const old = OURS.map((name) => readSecret(name, 'DATABASE_URL'));
  return {
    steps: [
      () => inEach((name) => rotate(name, 'DATABASE_URL', 'add')),
      async () => {
        await using db = openDatabase();
        await db.query(CHANGE_PASSWORD);
        await inEach(async (name) => {
          const { username, searchParams } = new URL(readSecret(name, 'DATABASE_URL'));
          const next = searchParams.get('other_password');
          await db.query(sql`select pg_temp.change_password(${username}, ${next})`);
        });
      },
      () => inEach((name) => rotate(name, 'DATABASE_URL', 'swap', 'end')),
    ],
    refused: async () => {
      for (const url of old) {
        await using db = createPool({ url, applicationName: 'old-password', max: 1 });
        await expect(db.query(sql`select 1`)).rejects.toMatchObject({ code: '28P01' });
      }
    },
  };
}

async function rotateBootstrapToken() {
  const old = readSecret('gateway', 'ADMIN_BOOTSTRAP_TOKEN');
  const { token } = await adminBody('POST', '/admin/operators', { name: 'Ana' });
  const next = aSecret();
  const statusOf = async (bearer: string): Promise<number> => {
    const headers = { authorization: `Bearer ${bearer}` };
    return (await call(`${stack().admin_url}/admin/operators`, { headers })).status;
  };
  return {
    steps: [() => change(['gateway'], { ADMIN_BOOTSTRAP_TOKEN: next })],
    refused: async () => {
      expect([await statusOf(old), await statusOf(next), await statusOf(token)]).toEqual([
        401, 200, 200,
      ]);
      // The comparison at the end is asked for by the token that `stack.json` names.
      await change(['gateway'], { ADMIN_BOOTSTRAP_TOKEN: old });
    },
  };
}

function aSecret(): string {
  return randomBytes(32).toString('base64url');
}

function fileOf(service: Service, setting: string): string {
  return path.join(homeOf(), 'secrets', service, setting);
}

function readSecret(service: Service, setting: string): string {
  return readFileSync(fileOf(service, setting), 'utf8').trim();
}

/** Writes the files of these services and restarts their processes, one of a service at a time. */
async function change(
  services: readonly Service[],
  secrets: Readonly<Record<string, string>>,
): Promise<void> {
  for (const service of services) {
    for (const [setting, value] of Object.entries(secrets)) {
      mkdirSync(path.dirname(fileOf(service, setting)), { recursive: true });
      writeFileSync(fileOf(service, setting), value, { mode: 0o600 });
    }
    await restartEach(service);
  }
}

async function restartEach(service: string): Promise<void> {
  for (const name of [service, `${service}-2`]) {
    if (stack().pids[name] !== undefined) await requestRestart(homeOf(), name);
  }
}

/** Steps of the command, and a rolling restart behind them. */
async function rotate(service: Service, setting: string, ...steps: string[]): Promise<void> {
  const before = readSecret(service, setting);
  const after = steps.reduce((text, step) => rotateSecret(setting, step, text), before);
  await change([service], { [setting]: after });
}

async function inEach(work: (name: Service) => Promise<void>): Promise<void> {
  for (const name of OURS) await work(name);
}

async function readAs(key: string): Promise<number> {
  const headers = { 'x-api-key': key };
  return (await call(`${stack().gateway_url}/v1/account`, { headers })).status;
}

/** The status of a creation. */
async function createAs(key: string): Promise<number> {
  const customer = { name: 'Ana Souza', email: 'ana@example.com', document: '529.982.247-25' };
  const headers = { 'x-api-key': key, 'idempotency-key': aSecret() };
  const body = { amount: 1_234, customer };
  return (await call(`${stack().gateway_url}/v1/charges`, { method: 'POST', headers, body }))
    .status;
}

async function askForToken(clientSecret: string): Promise<number> {
  const credentials = `${secretsOfHome().acquirerClientId}:${clientSecret}`;
  const answer = await call(`${stack().simulator_url}/oauth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(credentials)}` },
    body: { grant_type: 'client_credentials' },
  });
  return answer.status;
}

/** The deploy job, as a person runs it. */
async function registerCallback(secret: string): Promise<void> {
  const { acquirerClientId, acquirerClientSecret, acquirerPixKey }: Json = secretsOfHome();
  const job = spawn(process.execPath, ['deploy/main.ts', 'callback'], {
    stdio: 'inherit',
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'development',
      ACQUIRER_URL: stack().simulator_url,
      ACQUIRER_CLIENT_ID: acquirerClientId,
      ACQUIRER_CLIENT_SECRET: acquirerClientSecret,
      ACQUIRER_PIX_KEY: acquirerPixKey,
      CALLBACK_URL: stack().callback_url,
      CALLBACK_SECRET: secret,
    },
  });
  const [exitCode] = await once(job, 'exit');
  expect(exitCode).toBe(0);
}

function openDatabase() {
  return createPool({ url: stack().postgres_url, applicationName: 'rotations', max: 1 });
}
