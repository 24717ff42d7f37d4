import { ConfigError, readConfig } from '@pixmesh/service/config';
import { describe, expect, test } from 'vitest';

import { GatewayConfig } from './config.ts';

const PEPPER = Buffer.alloc(32, 1).toString('base64url');
const ENVIRONMENT: Record<string, string> = {
  NODE_ENV: 'development',
  DATABASE_URL: 'postgres://pixmesh_gateway:x@127.0.0.1/pixmesh',
  MESH_TLS_DIR: '/identity',
  KAFKA_BROKERS: '127.0.0.1:9092',
  SCHEMA_REGISTRY_URL: 'http://127.0.0.1:8080',
  INTERNAL_PORT: '0',
  PUBLIC_PORT: '8000',
  ADMIN_PORT: '8001',
  CALLBACK_PORT: '8002',
  CHARGES_URL: 'https://127.0.0.1:8010',
  PAYOUTS_URL: 'https://127.0.0.1:8013',
  LEDGER_URL: 'https://127.0.0.1:8011',
  DISPATCHER_URL: 'https://127.0.0.1:8012',
  API_KEY_PEPPER: PEPPER,
  CALLBACK_SECRET: 'c'.repeat(32),
};

describe('the configuration', () => {
  test('is read with its defaults', () => {
    expect(readConfig(GatewayConfig, ENVIRONMENT)).toMatchObject({
      PUBLIC_PORT: 8000,
      REQUEST_TIMEOUT_MS: 10_000,
      RECONCILIATION_TIMEOUT_MS: 60_000,
      DATABASE_POOL_SIZE: 8,
      REQUEST_LOG_RETENTION_DAYS: 90,
      RATE_LIMIT_WINDOW_SECONDS: 60,
      RATE_LIMIT_TIMEOUT_MS: 50,
      API_KEY_PEPPER: { current: { version: 1, bytes: Buffer.alloc(32, 1) }, other: null },
      CALLBACK_SECRET: { current: 'c'.repeat(32), other: null },
    });
  });

  test.each([
    ['PUBLIC_PORT', '70000'],
    ['ADMIN_PORT', 'x'],
    ['CHARGES_URL', 'charges'],
    ['LEDGER_URL', 'ftp://ledger'],
    ['PAYOUTS_URL', '//payouts'],
    ['API_KEY_PEPPER', Buffer.alloc(31).toString('base64url')],
    ['API_KEY_PEPPER', `0:${PEPPER}`],
    ['API_KEY_PEPPER', `32768:${PEPPER}`],
    ['API_KEY_PEPPER', `v2:${PEPPER}`],
    ['API_KEY_PEPPER', `1:${PEPPER},${PEPPER}`],
    ['API_KEY_PEPPER', `3:${PEPPER},2:${PEPPER},${PEPPER}`],
    ['API_KEY_PEPPER', `2:${PEPPER},`],
    ['ADMIN_BOOTSTRAP_TOKEN', 'short'],
    ['CALLBACK_SECRET', 'c'.repeat(31)],
    ['CALLBACK_SECRET', `${'c'.repeat(32)},`],
    ['CALLBACK_SECRET', Array(3).fill('c'.repeat(32)).join(',')],
    ['CALLBACK_SECRET', `${'c'.repeat(32)}/pix`],
    ['REQUEST_TIMEOUT_MS', '0'],
    ['RECONCILIATION_TIMEOUT_MS', 'long'],
    ['REQUEST_LOG_RETENTION_DAYS', '6'],
    ['RATE_LIMIT_PER_KEY', '0'],
    ['RATE_LIMIT_PER_KEY', 'many'],
    ['RATE_LIMIT_WINDOW_SECONDS', '86401'],
    ['RATE_LIMIT_TIMEOUT_MS', '0'],
    ['REDIS_URL', 'http://redis'],
    ['CALLBACK_TLS_CERT', 'no PEM'],
    ['SECURITY_CONTACT', 'security@example.com'],
    ['SECURITY_TXT_URL', 'pix.example.com'],
    ['SECURITY_TXT_EXPIRES', 'tomorrow'],
  ])('names a wrong %s and says what was expected: %s', (name, value) => {
    const read = () => readConfig(GatewayConfig, { ...ENVIRONMENT, [name]: value });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(new RegExp(`^${name}: expected `));
  });

  test('may hold two peppers and two callback secrets, the current one first', () => {
    const both = { ...ENVIRONMENT, API_KEY_PEPPER: `2:${PEPPER},${PEPPER}` };
    const secrets = { CALLBACK_SECRET: `${'d'.repeat(32)},${'c'.repeat(32)}` };
    expect(readConfig(GatewayConfig, { ...both, ...secrets })).toMatchObject({
      API_KEY_PEPPER: { current: { version: 2 }, other: { version: 1 } },
      CALLBACK_SECRET: { current: 'd'.repeat(32), other: 'c'.repeat(32) },
    });
  });

  test('has no rate limit unless it is asked for, and needs a Redis then', () => {
    expect(readConfig(GatewayConfig, ENVIRONMENT).RATE_LIMIT_PER_KEY).toBeUndefined();
    const limited = { ...ENVIRONMENT, RATE_LIMIT_PER_KEY: '100' };
    expect(() => readConfig(GatewayConfig, limited)).toThrow(/^REDIS_URL: expected /);
    expect(
      readConfig(GatewayConfig, { ...limited, REDIS_URL: 'redis://redis:6379' }),
    ).toMatchObject({ RATE_LIMIT_PER_KEY: 100 });
  });

  const { NODE_ENV: _, ...needed } = ENVIRONMENT;
  test.each(Object.keys(needed))('needs %s', (name) => {
    const { [name]: _left, ...rest } = ENVIRONMENT;
    expect(() => readConfig(GatewayConfig, rest)).toThrow(new RegExp(`^${name}: `));
  });
});
