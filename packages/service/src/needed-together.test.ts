import { expect, test } from 'vitest';
import { z } from 'zod';

import { inspectConfig, KafkaConfig } from './config.ts';

const Config = z.object({ ...KafkaConfig, MESH_TLS_DIR: z.string().optional() });
const ENV = {
  NODE_ENV: 'test',
  KAFKA_BROKERS: 'a:9093',
  SCHEMA_REGISTRY_URL: 'https://registry',
};
const LOGIN = { KAFKA_SASL_USERNAME: 'charges', KAFKA_SASL_PASSWORD: 'canary' };

function refusedOf(env: NodeJS.ProcessEnv): string[] {
  return inspectConfig(Config, { ...ENV, ...env }).refused;
}

test.each(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'])('%s asks for a login', (mechanism) => {
  const env = { KAFKA_SECURITY: 'tls', KAFKA_SASL_MECHANISM: mechanism };
  expect(refusedOf(env)).toEqual([
    `KAFKA_SASL_USERNAME: expected beside ${mechanism}`,
    `KAFKA_SASL_PASSWORD: expected beside ${mechanism}`,
  ]);
  expect(refusedOf({ ...env, ...LOGIN })).toEqual([]);
});

test('OAUTHBEARER asks for an issuer of tokens too', () => {
  const env = { KAFKA_SECURITY: 'tls', KAFKA_SASL_MECHANISM: 'OAUTHBEARER', ...LOGIN };
  expect(refusedOf(env)).toEqual(['KAFKA_SASL_TOKEN_URL: expected beside OAUTHBEARER']);
  expect(refusedOf({ ...env, KAFKA_SASL_TOKEN_URL: 'https://tokens' })).toEqual([]);
});

test('mutual TLS, which is the default, asks for an identity', () => {
  const line = 'MESH_TLS_DIR: expected beside KAFKA_SECURITY=mtls';
  expect(refusedOf({})).toEqual([line]);
  expect(refusedOf({ KAFKA_SECURITY: 'mtls' })).toEqual([line]);
  expect(refusedOf({ MESH_TLS_DIR: '/run/mesh-tls' })).toEqual([]);
  expect(refusedOf({ KAFKA_SECURITY: 'plaintext' })).toEqual([]);
});

test('what is missing beside another setting is said beside all else that is wrong', () => {
  expect(refusedOf({ KAFKA_BROKERS: 'nowhere' })).toHaveLength(2);
});
