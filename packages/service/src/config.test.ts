import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';

import {
  CommonConfig,
  ConfigError,
  isOn,
  KafkaConfig,
  milliseconds,
  port,
  readConfig,
} from './config.ts';

const Config = z.object({
  ...CommonConfig,
  ...KafkaConfig,
  PORT: port(),
  WAIT_MS: milliseconds(50),
});
const ENV = {
  NODE_ENV: 'development',
  INTERNAL_PORT: '9000',
  DATABASE_URL: 'postgres://pixmesh_charges:secret@127.0.0.1/pixmesh',
  KAFKA_BROKERS: 'a:9092,b:9092',
  SCHEMA_REGISTRY_URL: 'http://127.0.0.1:8080',
  PORT: '0',
};

test('settings are typed, defaulted, frozen, and nothing else', () => {
  const config = readConfig(Config, { ...ENV, HOME: '/root' });
  expect(config).toEqual({
    ...ENV,
    NODE_ENV: 'development',
    LOG_LEVEL: 'info',
    HOST: '127.0.0.1',
    REUSE_PORT: false,
    INTERNAL_PORT: 9_000,
    KAFKA_BROKERS: ['a:9092', 'b:9092'],
    KAFKA_TOPIC_PREFIX: '',
    KAFKA_SECURITY: 'mtls',
    PORT: 0,
    WAIT_MS: 50,
  });
  expect(Object.isFrozen(config)).toBe(true);
});

test.each([
  ['INTERNAL_PORT', undefined],
  ['INTERNAL_PORT', ''],
  ['INTERNAL_PORT', '65536'],
  ['INTERNAL_PORT', 'http'],
  ['PORT', '-1'],
  ['PORT', '1.5'],
  ['WAIT_MS', '0'],
  ['WAIT_MS', '1s'],
  ['DATABASE_URL', 'mysql://127.0.0.1/x'],
  ['KAFKA_BROKERS', undefined],
  ['KAFKA_BROKERS', 'a,b'],
  ['KAFKA_SECURITY', 'ssl'],
  ['KAFKA_TLS_CA', 'nonsense'],
  ['KAFKA_SASL_MECHANISM', 'GSSAPI'],
  ['KAFKA_SASL_TOKEN_URL', 'nowhere'],
  ['KAFKA_BROKERS', 'a:9092,,b:9092'],
  ['SCHEMA_REGISTRY_URL', 'registry'],
  ['NODE_ENV', 'prod'],
  ['LOG_LEVEL', 'loud'],
])('a wrong %s (%s) is named in one line, without its value', (name, value) => {
  const error = failure({ ...ENV, [name]: value });
  expect(error.message.split('\n')).toHaveLength(1);
  expect(error.message).toMatch(new RegExp(`^${name}: .*expected`, 'i'));
  expect(error.message).not.toContain('mysql');
});

test('every wrong variable has its line', () => {
  const names = failure({})
    .message.split('\n')
    .map((line) => line.split(':')[0]);
  expect(names).toEqual([
    'INTERNAL_PORT',
    'DATABASE_URL',
    'KAFKA_BROKERS',
    'SCHEMA_REGISTRY_URL',
    'PORT',
  ]);
});

test('a process is in production unless it is said otherwise', () => {
  const { NODE_ENV: _, ...env } = ENV;
  const allowed = { ...env, PIXMESH_ALLOW_PLAINTEXT: 'postgres,registry' };
  expect(readConfig(Config, allowed)).toMatchObject({
    NODE_ENV: 'production',
    PIXMESH_ALLOW_PLAINTEXT: ['postgres', 'registry'],
  });
  expect(failure(env).message.split('\n')).toEqual([
    'DATABASE_URL: expected a URL with sslmode=verify-full in production',
    'SCHEMA_REGISTRY_URL: expected an https:// URL in production',
  ]);
});

test.each([
  [undefined, 'test', true],
  ['true', 'development', true],
  ['false', 'development', false],
  [undefined, 'production', false],
  ['true', 'production', false],
] as const)('a development switch of %s is in %s: %s', (value, NODE_ENV, expected) => {
  expect(isOn(value, { NODE_ENV })).toBe(expected);
});

test('X_FILE holds X, its last line feed aside', () => {
  const { DATABASE_URL, ...env } = ENV;
  const file = secretFile(`${DATABASE_URL}\n`);
  expect(readConfig(Config, { ...env, DATABASE_URL_FILE: file }).DATABASE_URL).toBe(DATABASE_URL);
  expect(readConfig(Config, { ...env, DATABASE_URL: '', DATABASE_URL_FILE: file })).toBeDefined();
});

test('an unreadable X_FILE is named, and so is X beside X_FILE', () => {
  const { DATABASE_URL: _, ...env } = ENV;
  expect(failure({ ...env, DATABASE_URL_FILE: '/nowhere' }).message).toBe(
    'DATABASE_URL_FILE: expected the path of a readable file',
  );
  expect(failure({ ...ENV, DATABASE_URL_FILE: secretFile('x') }).message).toMatch(
    /^DATABASE_URL: /,
  );
});

test('a file that nobody asked for is not opened', () => {
  expect(readConfig(Config, { ...ENV, SSL_CERT_FILE: '/nowhere' })).toBeDefined();
});

function failure(env: NodeJS.ProcessEnv): ConfigError {
  try {
    readConfig(Config, env);
  } catch (error) {
    if (error instanceof ConfigError) return error;
  }
  throw new Error('the configuration was accepted');
}

function secretFile(text: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'pixmesh-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(path.join(folder, 'secret'), text);
  return path.join(folder, 'secret');
}
