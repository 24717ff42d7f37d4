import { expect, test } from 'vitest';
import { z } from 'zod';

import { inspectConfig } from './config.ts';
import { PLAINTEXT_NAMES, PRODUCTION_RULES } from './production-rules.ts';

type Row = {
  setting: string;
  unsafe: readonly (string | undefined)[];
  safe: readonly (string | undefined)[];
  liftedBy?: (typeof PLAINTEXT_NAMES)[number];
};

const DATABASE: Row = {
  setting: 'DATABASE_URL',
  unsafe: [
    'postgres://u:canary@db/pixmesh',
    'postgres://u:canary@db/pixmesh?sslmode=require',
    'postgres://u:canary@db/pixmesh?sslmode=verify-ca',
    'postgres://u:canary@db/pixmesh?sslmode=verify-full&sslmode=disable',
    'postgres://u:canary@db/pixmesh?sslmode=disable&sslmode=verify-full',
  ],
  safe: ['postgres://u:canary@db/pixmesh?sslmode=verify-full&sslrootcert=/ca.pem'],
  liftedBy: 'postgres',
};
const PLAIN_HTTP = { unsafe: ['http://canary'], safe: ['https://canary'] };

const ROWS: readonly Row[] = [
  { setting: 'WEBHOOK_DEV_RECEIVERS', unsafe: ['*.canary=127.0.0.1:1'], safe: [undefined, ''] },
  { setting: 'FAILPOINTS_PORT', unsafe: ['0', '8000'], safe: [undefined, ''] },
  { setting: 'ACT_FOR_OTHERS', unsafe: ['true'], safe: [undefined, 'false'] },
  { setting: 'ACQUIRER_URL', ...PLAIN_HTTP },
  { setting: 'LEDGER_URL', ...PLAIN_HTTP },
  { setting: 'CALLBACK_URL', ...PLAIN_HTTP },
  { setting: 'URL_OF_A_SERVICE_THAT_COMES_LATER_URL', ...PLAIN_HTTP },
  { setting: 'ACQUIRER_TLS_CERT', unsafe: [undefined, ''], safe: ['canary'] },
  DATABASE,
  { ...DATABASE, setting: 'ADMIN_DATABASE_URL' },
  {
    setting: 'KAFKA_SECURITY',
    unsafe: ['plaintext'],
    safe: [undefined, 'mtls'],
    liftedBy: 'kafka',
  },
  { setting: 'KAFKA_SECURITY', unsafe: ['tls'], safe: [] },
  { setting: 'SCHEMA_REGISTRY_URL', ...PLAIN_HTTP, liftedBy: 'registry' },
  {
    setting: 'REDIS_URL',
    unsafe: ['redis://:canary@r'],
    safe: [undefined, 'rediss://:canary@r'],
    liftedBy: 'redis',
  },
  { setting: 'REDIS_URL', unsafe: ['rediss://r', 'rediss://canary@r'], safe: [] },
  { setting: 'NODE_TLS_REJECT_UNAUTHORIZED', unsafe: ['0'], safe: [undefined, '', '1'] },
  { setting: 'OTEL_EXPORTER_OTLP_ENDPOINT', ...PLAIN_HTTP, liftedBy: 'traces' },
  { setting: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', ...PLAIN_HTTP, liftedBy: 'traces' },
];

/** What a process with this one setting, of any text, reads in production. */
function inspect(setting: string, value: string | undefined, env: NodeJS.ProcessEnv = {}) {
  const schema = z.object({ [setting]: z.string().optional() });
  return inspectConfig(schema, { ...env, [setting]: value });
}

test.each(ROWS)('production refuses what is unsafe of $setting, in one line', (row) => {
  for (const value of row.unsafe) {
    for (const env of [{}, { NODE_ENV: '' }, { NODE_ENV: 'production' }]) {
      const { config, refused, lifted } = inspect(row.setting, value, env);
      expect([config, lifted, refused.length]).toEqual([null, [], 1]);
      expect(refused[0]).toMatch(new RegExp(`^${row.setting}: expected .*production`));
      expect(refused[0]).not.toContain('canary');
    }
  }
});

test.each(ROWS)('production takes what is safe of $setting', ({ setting, safe }) => {
  for (const value of safe) expect([value, inspect(setting, value).refused]).toEqual([value, []]);
});

test.each(ROWS)('outside production $setting is free', ({ setting, safe, unsafe }) => {
  for (const value of safe.concat(unsafe)) {
    for (const NODE_ENV of ['development', 'test']) {
      expect(inspect(setting, value, { NODE_ENV }).refused).toEqual([]);
    }
  }
});

test.each(ROWS)('PIXMESH_ALLOW_PLAINTEXT lifts $setting by its own name alone', (row) => {
  const [value] = row.unsafe;
  for (const name of PLAINTEXT_NAMES) {
    const { refused, lifted } = inspect(row.setting, value, { PIXMESH_ALLOW_PLAINTEXT: name });
    const shown = name === row.liftedBy ? [0, 1] : [1, 0];
    expect([name, refused.length, lifted.length]).toEqual([name, ...shown]);
  }
});

test('each rule has its row', () => {
  const idle = PRODUCTION_RULES.filter(
    ({ setting, isSafe }) =>
      !ROWS.some((row) => setting.test(row.setting) && row.unsafe.some((one) => !isSafe(one, {}))),
  );
  expect(idle).toEqual([]);
});

test('an acquirer that asks for no certificate is one that is said to ask for none', () => {
  const given = { ACQUIRER_CLIENT_CERTIFICATE: 'none' };
  const schema = z.object({
    ACQUIRER_TLS_CERT: z.string().optional(),
    ACQUIRER_CLIENT_CERTIFICATE: z.string(),
  });
  expect(inspectConfig(schema, given).refused).toEqual([]);
});

test('a broker with TLS alone is one to which we log in', () => {
  const given = { KAFKA_SECURITY: 'tls', KAFKA_SASL_MECHANISM: 'PLAIN' };
  const fields = ['KAFKA_SECURITY', 'KAFKA_SASL_MECHANISM'].map((name) => [name, z.string()]);
  expect(inspectConfig(z.object(Object.fromEntries(fields)), given).refused).toEqual([]);
});

test.each([
  ['NODE_TLS_REJECT_UNAUTHORIZED', '0'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://canary'],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'http://canary'],
])('production refuses an unsafe %s where no schema names it', (setting, value) => {
  const { config, refused } = inspectConfig(z.object({}), { [setting]: value });
  expect(config).toBeNull();
  expect(refused).toEqual([expect.stringMatching(new RegExp(`^${setting}: expected `))]);
});

test.each(['mysql', 'postgres,', 'postgres, kafka', 'all'])(
  'PIXMESH_ALLOW_PLAINTEXT=%s is refused, in production and elsewhere',
  (names) => {
    for (const NODE_ENV of ['production', 'development']) {
      const env = { NODE_ENV, PIXMESH_ALLOW_PLAINTEXT: names };
      expect(inspect('PORT', '1', env).refused).toEqual([
        'PIXMESH_ALLOW_PLAINTEXT: expected names of postgres, kafka, redis, registry, traces, separated by commas',
      ]);
    }
  },
);
