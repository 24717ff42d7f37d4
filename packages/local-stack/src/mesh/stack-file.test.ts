import { afterEach, expect, test, vi } from 'vitest';
import { givenRedis } from '../infra/redis-users.ts';
import type { MeshSettings } from './mesh-settings.ts';
import { describeStack } from './stack-file.ts';

afterEach(() => void vi.unstubAllEnvs());

const DEMO = { accountId: 'account', applicationId: 'application', apiKey: 'key' };

const SETTINGS = {
  home: '/home/of/the/stack',
  infra: {
    postgresUrl: 'postgres://postgres:secret@127.0.0.1:5432/pixmesh',
    kafkaBrokers: ['127.0.0.1:9092'],
    registryUrl: 'http://127.0.0.1:8080',
    redis: givenRedis('redis://a:of-redis@127.0.0.1:6379', undefined),
  },
  secrets: { adminToken: 'token' },
  origin: (slot) => `http://127.0.0.1/${slot}`,
} as MeshSettings;

const describe = () =>
  describeStack({
    settings: SETTINGS,
    demo: DEMO,
    furtherUrls: { internal: {}, failpoints: {} },
    pids: {},
  });

test('stack.json names the files by which tools reach the broker, and never those of a service', () => {
  vi.stubEnv('KAFKA_SECURITY', undefined);
  const folder = '/home/of/the/stack/identities/tools';
  expect(describe().kafka_tls).toEqual({
    ca: `${folder}/ca.crt`,
    cert: `${folder}/tls.crt`,
    key: `${folder}/tls.key`,
  });
});

test('where the broker is reached in another way it names none', () => {
  vi.stubEnv('KAFKA_SECURITY', 'plaintext');
  expect(JSON.parse(JSON.stringify(describe()))).not.toHaveProperty('kafka_tls');
});
