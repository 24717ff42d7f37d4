import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

import { generateSealingKeyPair } from '@pixmesh/kernel/sealed-secret';
import { MESH_SERVICES } from '@pixmesh/local-stack/mesh/mesh-services';
import { inspectConfig } from '@pixmesh/service/config';
import { loadSettings } from '@pixmesh/service/load-settings';
import { sampled } from '@pixmesh/testkit/long-runs';
import { processEnvironment } from '@pixmesh/testkit/process-environment';
import { describe, expect, test } from 'vitest';

import { IdentitiesConfig } from '../deploy/issue-identities.ts';
import { OwnerConfig } from '../deploy/prepare-database.ts';
import { DeployConfig } from '../deploy/prepare-installation.ts';
import { CallbackConfig } from '../deploy/register-callback.ts';
import { TopicsConfig } from '../deploy/topics.ts';
import { passwordSetting, schemasOfInstallation } from '../deploy/schemas-of-services.ts';

const SIMULATOR = 'acquirer-simulator';
const SERVICES = MESH_SERVICES.map(({ name }) => name).filter((name) => name !== SIMULATOR);

type Schema = Awaited<ReturnType<typeof loadSettings>>;

const SCHEMAS: ReadonlyMap<string, Schema> = new Map([
  ...(await Promise.all(SERVICES.map(async (name) => [name, await loadSettings(name)] as const))),
  ['deploy', DeployConfig],
  ['callback', CallbackConfig],
  ['owner', OwnerConfig],
  ['identities', IdentitiesConfig],
  ['topics', TopicsConfig],
]);

const sealing = generateSealingKeyPair();
const RECEIVER = {
  name: 'Pixmesh',
  document: '11222333000181',
  pix_key: 'pix@example.com',
  pix_key_type: 'email',
  institution_name: 'Bank',
  institution_ispb: '00000000',
  branch: '0001',
  account: '1234567',
  account_type: 'payment',
};

/** What every process of an installation takes in production, without saying so. */
const SAFE: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://u:p@127.0.0.1:1/pixmesh?sslmode=verify-full',
  ADMIN_DATABASE_URL: 'postgres://u:p@127.0.0.1:1/pixmesh?sslmode=verify-full',
  SUPERUSER_DATABASE_URL: 'postgres://u:p@127.0.0.1:1/pixmesh?sslmode=verify-full',
  DATABASE_PASSWORD_OWNER: 'a-password-of-tests',
  ...passwordsOf('production'),
  KAFKA_BROKERS: '127.0.0.1:1',
  SCHEMA_REGISTRY_URL: 'https://127.0.0.1:1',
  REDIS_URL: 'rediss://:p@127.0.0.1:1',
  MESH_TLS_DIR: '/run/mesh-tls',
  MESH_AUTHORITY_DIR: '/run/mesh-authority',
  MESH_IDENTITIES_DIR: '/run/mesh-identities',
  CHARGES_URL: 'https://charges:1',
  PAYOUTS_URL: 'https://payouts:1',
  LEDGER_URL: 'https://ledger:1',
  DISPATCHER_URL: 'https://webhook-dispatcher:1',
  PORT: '0',
  PUBLIC_PORT: '0',
  ADMIN_PORT: '0',
  CALLBACK_PORT: '0',
  INTERNAL_PORT: '0',
  ACQUIRER_URL: 'https://127.0.0.1:1',
  ACQUIRER_CLIENT_ID: 'id',
  ACQUIRER_CLIENT_SECRET: 'secret',
  ACQUIRER_PIX_KEY: 'pix@example.com',
  ACQUIRER_CLIENT_CERTIFICATE: 'none',
  ACQUIRER_RECEIVER: JSON.stringify(RECEIVER),
  CALLBACK_URL: 'https://hooks.example.com',
  CALLBACK_SECRET: 'c'.repeat(32),
  API_KEY_PEPPER: Buffer.alloc(32, 1).toString('base64url'),
  ADMIN_BOOTSTRAP_TOKEN: 'b'.repeat(32),
  WEBHOOK_SEALING_PUBLIC_KEY: sealing.publicKey,
  WEBHOOK_SEALING_PRIVATE_KEYS: sealing.privateKeys,
};

function passwordsOf(NODE_ENV: string): Record<string, string> {
  const schemas = schemasOfInstallation({ NODE_ENV });
  return Object.fromEntries(schemas.map(({ schema }) => [passwordSetting(schema), 'p']));
}

/** Each makes one setting of what is safe unsafe; `packages/service` tests what else counts as that. */
const UNSAFE: Readonly<Record<string, string>> = {
  WEBHOOK_DEV_RECEIVERS: '*.receiver.example.com=127.0.0.1:1',
  FAILPOINTS_PORT: '8000',
  ACT_FOR_OTHERS: 'true',
  ACQUIRER_URL: 'http://127.0.0.1:1',
  ACQUIRER_CLIENT_CERTIFICATE: 'required',
  CHARGES_URL: 'http://charges:1',
  PAYOUTS_URL: 'http://payouts:1',
  LEDGER_URL: 'http://ledger:1',
  DISPATCHER_URL: 'http://webhook-dispatcher:1',
  CALLBACK_URL: 'http://hooks.example.com',
  SECURITY_TXT_URL: 'http://example.com/.well-known/security.txt',
  DATABASE_URL: 'postgres://u:p@127.0.0.1:1/pixmesh',
  ADMIN_DATABASE_URL: 'postgres://u:p@127.0.0.1:1/pixmesh',
  SUPERUSER_DATABASE_URL: 'postgres://u:p@127.0.0.1:1/pixmesh',
  KAFKA_SECURITY: 'plaintext',
  KAFKA_SASL_TOKEN_URL: 'http://127.0.0.1:1',
  SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1',
  REDIS_URL: 'redis://:p@127.0.0.1:1',
  PIXMESH_ALLOW_PLAINTEXT: 'everything',
};

/** The line of this setting names another, which is the one that is missing. */
const NAMED_BY: Readonly<Record<string, string>> = {
  ACQUIRER_CLIENT_CERTIFICATE: 'ACQUIRER_TLS_CERT',
};

const unsafeOf = (name: string): string[] =>
  Object.keys(UNSAFE).filter((setting) => SCHEMAS.get(name)?.shape[setting] !== undefined);

describe.each([...SCHEMAS])('in production %s', (name, schema) => {
  test('takes what is safe', () => {
    expect(inspectConfig(schema, SAFE)).toMatchObject({ refused: [], lifted: [] });
  });

  test.each(unsafeOf(name))('refuses an unsafe %s in one line', (setting) => {
    const { refused } = inspectConfig(schema, { ...SAFE, [setting]: UNSAFE[setting] });
    expect(refused).toHaveLength(1);
    expect(refused[0]).toMatch(new RegExp(`^${NAMED_BY[setting] ?? setting}: expected `));
  });

  test('has no URL that may be plain without being named here', () => {
    const urls = Object.keys(schema.shape).filter((setting) => setting.endsWith('_URL'));
    expect(urls.filter((setting) => UNSAFE[setting] === undefined)).toEqual([]);
  });
});

/** Says in the first place where a process begins to listen. */
const LISTENED = 'listened\n';
const HOOK = `import { Server } from 'node:net';
const { listen } = Server.prototype;
Server.prototype.listen = function (...args) {
  process.stderr.write(${JSON.stringify(LISTENED)});
  return listen.apply(this, args);
};`;

async function start(args: readonly string[], env: NodeJS.ProcessEnv) {
  const hook = `data:text/javascript,${encodeURIComponent(HOOK)}`;
  const child = spawn(process.execPath, ['--import', hook, ...args], {
    env: { ...processEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [[code], out, error] = await Promise.all([
    once(child, 'exit') as Promise<[number]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, out, error };
}

const ENTRIES: Readonly<Record<string, readonly string[]>> = {
  deploy: ['deploy/main.ts'],
  callback: ['deploy/main.ts', 'callback'],
  owner: ['deploy/main.ts', 'owner'],
  identities: ['deploy/main.ts', 'identities'],
  topics: ['deploy/main.ts', 'topics', 'lag'],
};
const BOOT_MS = 120_000;

test.concurrent.each(
  [...SCHEMAS.keys()].flatMap((name) => sampled(unsafeOf(name), 1).map((one) => [name, one])),
)(
  'the process of %s with an unsafe %s ends with 1 and one line, and has not listened',
  async (name = '', setting = '') => {
    const entry = ENTRIES[name] ?? [`services/${name}/src/main.ts`];
    const { code, out, error } = await start(entry, { ...SAFE, [setting]: UNSAFE[setting] });
    const shown = name in ENTRIES ? 'deploy' : name;
    const named = NAMED_BY[setting] ?? setting;
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(error).toMatch(new RegExp(`^${shown}: ${named}: expected [^\\n]+\\n$`));
  },
  BOOT_MS,
);

const NO_SIMULATOR =
  'NODE_ENV: expected development or test, as the acquirer simulator does not run in production';

test.concurrent(
  'the process of the acquirer simulator ends with 1 and one line, and has not listened',
  async () => {
    const env = { ...SAFE, RECEIVER_PORT: '0' };
    expect(await start([`services/${SIMULATOR}/src/main.ts`], env)).toEqual({
      code: 1,
      out: '',
      error: `acquirer-simulator: ${NO_SIMULATOR}\n`,
    });
  },
  BOOT_MS,
);

test('the acquirer simulator is refused in production by name and by default', async () => {
  const schema = await loadSettings(SIMULATOR);
  for (const env of [{}, { NODE_ENV: 'production' }]) {
    const { refused } = inspectConfig(schema, { ...SAFE, RECEIVER_PORT: '0', ...env });
    expect(refused).toEqual([NO_SIMULATOR]);
  }
});

test('the deploy job wants a password of each role that it makes: of the simulator in development, and not in production', () => {
  const OF_SIMULATOR = 'DATABASE_PASSWORD_ACQUIRER_SIMULATOR';
  expect(Object.keys(passwordsOf('production'))).toHaveLength(5);
  expect(SAFE[OF_SIMULATOR]).toBeUndefined();
  expect(inspectConfig(DeployConfig, SAFE).refused).toEqual([]);
  expect(inspectConfig(DeployConfig, { ...SAFE, NODE_ENV: 'development' }).refused).toEqual([
    `${OF_SIMULATOR}: expected the password of pixmesh_acquirer_simulator`,
  ]);
  const { DATABASE_PASSWORD_LEDGER: _, ...without } = SAFE;
  expect(inspectConfig(DeployConfig, without).refused).toEqual([
    'DATABASE_PASSWORD_LEDGER: expected the password of pixmesh_ledger',
  ]);
});
