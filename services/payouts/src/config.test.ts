import { ConfigError, readConfig } from '@pixmesh/service/config';
import { expect, test } from 'vitest';

import { PayoutsConfig } from './config.ts';

const env = {
  NODE_ENV: 'development',
  DATABASE_URL: 'postgres://u@localhost/db',
  MESH_TLS_DIR: '/identity',
  KAFKA_BROKERS: 'localhost:9092',
  SCHEMA_REGISTRY_URL: 'http://localhost:8081',
  INTERNAL_PORT: '0',
  PORT: '0',
  LEDGER_URL: 'https://localhost:1',
  DISPATCHER_URL: 'https://localhost:2',
  CHARGES_URL: 'https://localhost:3',
  ACQUIRER_URL: 'http://localhost:2',
  ACQUIRER_CLIENT_ID: 'id',
  ACQUIRER_CLIENT_SECRET: 'secret',
  ACQUIRER_PIX_KEY: 'key',
  WEBHOOK_SEALING_PUBLIC_KEY: 'v1:key',
};

test('periods default to those of production', () => {
  expect(readConfig(PayoutsConfig, env)).toMatchObject({
    ACQUIRER_TIMEOUT_MS: 4_000,
    REQUEST_TIMEOUT_MS: 9_000,
    SEND_SLOTS: 8,
    READ_BACK_INTENT_MS: 10_000,
    READ_BACK_INTENT_MS_MAX: 30_000,
    READ_BACK_UNKNOWN_MS: 5_000,
    READ_BACK_UNKNOWN_MS_MAX: 30_000,
    READ_BACK_ACCEPTED_MS: 60_000,
    READ_BACK_ACCEPTED_MS_MAX: 300_000,
    SENT_LIST_MS: 10_000,
    SENT_LIST_LATE_MS: 300_000,
    SENT_LIST_OVERLAP_MS: 900_000,
    REFUSAL_WAIT_MS: 900_000,
    COMMAND_RESEND_MS: 120_000,
  });
});

test('an intent is checked by its job only after its own call must have ended', () => {
  const config = readConfig(PayoutsConfig, env);
  expect(config.READ_BACK_INTENT_MS).toBeGreaterThan(config.REQUEST_TIMEOUT_MS);
});

test.each([
  ['SEND_SLOTS', '0', 'expected a number from 1 to 64'],
  ['SEND_SLOTS', '65', 'expected a number from 1 to 64'],
  ['SEND_SLOTS', '1.5', 'expected a number from 1 to 64'],
  ['LEDGER_URL', 'http://ledger', 'expected an https:// URL'],
  ['READ_BACK_INTENT_MS', '-1', 'expected a number of milliseconds above 0'],
])('%s=%s is refused with one line that names it', (name, value, expected) => {
  expect(() => readConfig(PayoutsConfig, { ...env, [name]: value })).toThrow(
    new ConfigError(`${name}: ${expected}`),
  );
});
