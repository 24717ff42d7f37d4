import { mkdtempDisposableSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { INFRA_SLOTS } from '../infra/infra-slots.ts';
import { givenRedis } from '../infra/redis-users.ts';
import { BLOCK_SIZE } from '../ports/allocate-ports.ts';
import { DECIDED_BY_THE_STACK, givenValue, loadSettingNames } from './given-settings.ts';
import { completeSecrets } from './mesh-secrets.ts';
import { MESH_SERVICES, MESH_SLOTS } from './mesh-services.ts';
import type { MeshSettings } from './mesh-settings.ts';
import { renderDeployEnvironment, renderServiceEnvironment } from './service-environment.ts';
import { describeDeployJob, describeServiceProcess } from './service-process.ts';

const NEEDED = { schemas: ['gateway', 'charges'] };

const CERTIFICATES = {
  ca: 'the authority',
  server: { cert: 'of the simulator', key: 'key of the simulator' },
  client: { cert: 'of its client', key: 'key of its client' },
};

const SECRETS = completeSecrets(undefined, NEEDED);

const SETTING_NAMES = new Map(
  await Promise.all(
    MESH_SERVICES.map(async ({ name }) => [name, await loadSettingNames(name)] as const),
  ),
);

function someSettings(overrides: Partial<MeshSettings> = {}): MeshSettings {
  const portOf = (slot: string) => 10_000 + MESH_SLOTS.indexOf(slot);
  return {
    home: '/home/of/the/stack',
    infra: {
      postgresUrl: 'postgres://postgres:secret@127.0.0.1:5432/pixmesh',
      postgresServiceUrl: 'postgres://postgres:secret@127.0.0.1:5432/pixmesh?sslmode=verify-full',
      kafkaBrokers: ['127.0.0.1:9092', '127.0.0.1:9093'],
      registryUrl: 'http://127.0.0.1:8080',
      redis: givenRedis('redis://a:of-redis@127.0.0.1:6379', undefined),
    },
    secrets: SECRETS,
    certificates: CERTIFICATES,
    settingNames: SETTING_NAMES,
    otlpEndpoint: undefined,
    portOf,
    origin: (slot) => `http://127.0.0.1:${portOf(slot)}`,
    ...overrides,
  };
}

const serviceNamed = (name: string) => MESH_SERVICES.find((service) => service.name === name)!;

test('a service connects with its own role, never as superuser', () => {
  const settings = someSettings();
  const { DATABASE_URL } = renderServiceEnvironment(serviceNamed('charges'), settings);
  const url = new URL(DATABASE_URL!);
  expect(url.username).toBe('pixmesh_charges');
  expect(url.password).toBe(settings.secrets.databasePasswords['charges']);
  expect(url.pathname).toBe('/pixmesh');
});

test('a service has its own identity, and that of nobody else', () => {
  const settings = someSettings();
  const env = renderServiceEnvironment(serviceNamed('charges'), settings);
  expect(env['MESH_TLS_DIR']).toBe(`${settings.home}/identities/charges`);
  expect(JSON.stringify(env)).not.toContain('identities/ledger');
});

test('the simulator gets neither Kafka nor an identity', () => {
  const env = renderServiceEnvironment(serviceNamed('acquirer-simulator'), someSettings());
  expect(Object.keys(env)).not.toContain('KAFKA_BROKERS');
  expect(Object.keys(env)).not.toContain('MESH_TLS_DIR');
});

afterEach(() => void vi.unstubAllEnvs());

test('periods are short on one machine, and production’s own where that is asked for', () => {
  const periods = ['RECONCILIATION_MS', 'READ_BACK_ACCEPTED_MS', 'SENT_LIST_MS'];
  const namesOf = () =>
    Object.keys(renderServiceEnvironment(serviceNamed('payouts'), someSettings()));
  for (const name of periods) vi.stubEnv(name, undefined);
  expect(namesOf()).toEqual(expect.arrayContaining(periods));
  vi.stubEnv('PIXMESH_PERIODS', 'production');
  vi.stubEnv('SENT_LIST_MS', '700');
  expect(namesOf().filter((name) => periods.includes(name))).toEqual(['SENT_LIST_MS']);
});

test('the acquirer is called over TLS, and each side holds its own key only', () => {
  const settings = someSettings();
  const env = renderServiceEnvironment(serviceNamed('charges'), settings);
  expect(env).toMatchObject({
    ACQUIRER_URL: `https://127.0.0.1:${settings.portOf('simulator-tls')}`,
    ACQUIRER_TLS_CA: CERTIFICATES.ca,
    ACQUIRER_TLS_CERT: CERTIFICATES.client.cert,
  });
  const holdersOf = (key: string) =>
    MESH_SERVICES.filter((one) =>
      Object.values(renderServiceEnvironment(one, settings)).includes(key),
    ).map((one) => one.name);
  expect(holdersOf(CERTIFICATES.client.key)).toEqual(['charges', 'payouts']);
  expect(holdersOf(CERTIFICATES.server.key)).toEqual(['acquirer-simulator']);
});

test('only the dispatcher can open sealed secrets', () => {
  const settings = someSettings();
  const holders = MESH_SERVICES.filter(
    (one) => 'WEBHOOK_SEALING_PRIVATE_KEYS' in renderServiceEnvironment(one, settings),
  );
  expect(holders.map((one) => one.name)).toEqual(['webhook-dispatcher']);
});

test('traces are sent only where somebody receives them', () => {
  const gateway = serviceNamed('gateway');
  expect(renderServiceEnvironment(gateway, someSettings())).not.toHaveProperty(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
  );
  const traced = someSettings({ otlpEndpoint: 'http://127.0.0.1:4318' });
  expect(renderServiceEnvironment(gateway, traced)).toHaveProperty(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'http://127.0.0.1:4318',
  );
});

test('the deploy job knows the password of every schema', () => {
  const env = renderDeployEnvironment(someSettings());
  expect(Object.keys(env)).toEqual(
    expect.arrayContaining(['DATABASE_PASSWORD_GATEWAY', 'DATABASE_PASSWORD_CHARGES']),
  );
  expect(env['KAFKA_BROKERS']).toBe('127.0.0.1:9092,127.0.0.1:9093');
});

test('every slot is used once and all of them fit into a block', () => {
  expect(new Set(MESH_SLOTS).size).toBe(MESH_SLOTS.length);
  expect(MESH_SLOTS.length + INFRA_SLOTS.length + 1).toBeLessThan(BLOCK_SIZE);
});

test('secrets stay as they are and only gain what is new', () => {
  const first = completeSecrets(undefined, NEEDED);
  const second = completeSecrets(first, {
    schemas: [...NEEDED.schemas, 'payouts'],
  });
  expect(second).toMatchObject(first);
  expect(second.databasePasswords).toHaveProperty('payouts');
});

/** What a process is given when each setting of its service is set in the shell of the start. */
async function settingsGiven(name: string, valueOf: (setting: string) => [string, string]) {
  for (const setting of SETTING_NAMES.get(name)!) vi.stubEnv(...valueOf(setting));
  return await settingsOf(name);
}

/** What a process is given, by its environment and by files that are made for it. */
async function settingsOf(name: string): Promise<Record<string, string>> {
  using home = mkdtempDisposableSync(join(tmpdir(), 'home-'));
  const spec = describeServiceProcess(serviceNamed(name), someSettings({ home: home.path }));
  await spec.prepare?.();
  const read = Object.entries(spec.env).map(([variable, value]) =>
    value.startsWith(join(home.path, 'secrets'))
      ? [variable.replace(/_FILE$/, ''), readFileSync(value, 'utf8')]
      : [variable, value.replace(home.path, 'home')],
  );
  return Object.fromEntries(read) as Record<string, string>;
}

/** What the stack decides, and ports, which have variables of their own. */
function decidedOf(name: string): string[] {
  return [...DECIDED_BY_THE_STACK, ...Object.keys(serviceNamed(name).ports)];
}

describe.each(MESH_SERVICES.map(({ name }) => name))('the settings of %s', (name) => {
  const settings = SETTING_NAMES.get(name)!;

  test('each that the shell sets reaches the process, and wins over what the stack has for it', async () => {
    const env = await settingsGiven(name, (setting) => [setting, `given ${setting}`]);
    const decided = decidedOf(name);
    expect(settings.length).toBeGreaterThan(10);
    const reached = settings.filter(
      (setting) => env[setting]?.split(',')[0] === `given ${setting}`,
    );
    expect(reached).toEqual(settings.filter((setting) => !decided.includes(setting)));
  });

  test('each may come by a file, and stands beside no other value then', async () => {
    const env = await settingsGiven(name, (setting) => [`${setting}_FILE`, `file of ${setting}`]);
    for (const setting of settings.filter((one) => !decidedOf(name).includes(one))) {
      expect(env).toMatchObject({ [`${setting}_FILE`]: `file of ${setting}` });
      expect(env).not.toHaveProperty(setting);
    }
  });

  test('an empty one in the shell changes nothing', async () => {
    const own = await settingsOf(name);
    expect(await settingsGiven(name, (setting) => [setting, ''])).toEqual(own);
  });
});

test('receivers of one’s own come before the stack’s, which the demo goes on to use', () => {
  vi.stubEnv('WEBHOOK_DEV_RECEIVERS', 'shop.example.com=127.0.0.1:3000');
  const { env } = describeServiceProcess(serviceNamed('webhook-dispatcher'), someSettings());
  expect(env['WEBHOOK_DEV_RECEIVERS']).toMatch(
    /^shop\.example\.com=127\.0\.0\.1:3000,\*\.receiver\.example\.com=127\.0\.0\.1:\d+$/,
  );
});

test('no process has a secret in its environment: each has files that only their owner reads', async () => {
  using home = mkdtempDisposableSync(join(tmpdir(), 'home-'));
  const settings = someSettings({ home: home.path });
  const job = { home: home.path, name: 'deploy' };
  const specs = [
    ...MESH_SERVICES.map((service) => describeServiceProcess(service, settings)),
    describeDeployJob(job, [], renderDeployEnvironment(settings)),
  ];
  const { certificates, secrets } = settings;
  const hidden = [
    ...Object.values(secrets.databasePasswords),
    secrets.apiKeyPepper,
    secrets.adminToken,
    secrets.callbackSecret,
    secrets.acquirerClientId,
    secrets.acquirerClientSecret,
    secrets.sealing.privateKeys,
    certificates.client.key,
    certificates.server.key,
    secrets.ownerDatabasePassword,
    'of-redis@127.0.0.1',
  ];
  for (const { env, prepare } of specs) {
    const text = JSON.stringify(env);
    expect(hidden.filter((secret) => text.includes(secret))).toEqual([]);
    await prepare?.();
  }
  const folder = join(home.path, 'secrets');
  const folders = readdirSync(folder).map((name) => join(folder, name));
  expect(folders).toHaveLength(specs.length);
  for (const one of [folder, ...folders]) expect(statSync(one).mode & 0o077).toBe(0);
  const files = folders.flatMap((one) => readdirSync(one).map((name) => join(one, name)));
  expect(files.filter((file) => (statSync(file).mode & 0o077) !== 0)).toEqual([]);
  const stored = files.map((file) => readFileSync(file, 'utf8')).join('\n');
  expect(hidden.filter((secret) => !stored.includes(secret))).toEqual([]);
  // None has the superuser's: the deploy job has a role of its own.
  expect(stored).not.toContain('secret@127.0.0.1');
});

test('a secret that was changed while the stack is up outlives the restart of its process', async () => {
  using home = mkdtempDisposableSync(join(tmpdir(), 'home-'));
  const spec = describeServiceProcess(serviceNamed('gateway'), someSettings({ home: home.path }));
  await spec.prepare?.();
  const file = spec.env['CALLBACK_SECRET_FILE']!;
  writeFileSync(file, 'changed');
  await spec.prepare?.();
  expect(readFileSync(file, 'utf8')).toBe('changed');
});

test('a database and ports of the shell reach no service: each has its own', () => {
  for (const name of ['DATABASE_URL', 'PORT', 'INTERNAL_PORT', 'HOST']) vi.stubEnv(name, 'mine');
  for (const service of MESH_SERVICES) {
    const env = describeServiceProcess(service, someSettings()).env;
    expect(Object.values(env)).not.toContain('mine');
  }
});

test('a secret that the stack uses itself is the one that is given, by a file too', () => {
  const file = new URL('../../package.json', import.meta.url).pathname;
  expect(givenValue('TOKEN', {})).toBeUndefined();
  expect(givenValue('TOKEN', { TOKEN: 'given', TOKEN_FILE: '' })).toBe('given');
  expect(givenValue('TOKEN', { TOKEN_FILE: file })).toMatch(/"@pixmesh\/local-stack"[^]*\}$/);
});
