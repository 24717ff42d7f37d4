import { ConfigError, readConfig } from '@pixmesh/service/config';
import { generateSealingKeyPair } from '@pixmesh/kernel/sealed-secret';
import { describe, expect, test } from 'vitest';

import { DispatcherConfig, leaseMsOf } from './config.ts';

const sealing = generateSealingKeyPair();
const ENV = {
  NODE_ENV: 'development',
  INTERNAL_PORT: '9000',
  PORT: '9001',
  DATABASE_URL: 'postgres://pixmesh_webhook_dispatcher@localhost/pixmesh',
  MESH_TLS_DIR: '/identity',
  KAFKA_BROKERS: 'localhost:9092',
  SCHEMA_REGISTRY_URL: 'http://localhost:8080',
  WEBHOOK_SEALING_PUBLIC_KEY: sealing.publicKey,
  WEBHOOK_SEALING_PRIVATE_KEYS: sealing.privateKeys,
};

describe('the configuration', () => {
  test('has all roles and a lease beyond the deadline by default', () => {
    const config = readConfig(DispatcherConfig, ENV);
    expect(config.ROLES).toEqual(['api', 'intake', 'sender']);
    expect(config.DELIVERY_TIMEOUT_MS).toBe(10_000);
    expect(leaseMsOf(config)).toBe(13_000);
    expect(config.DELIVERY_IN_FLIGHT_MAX).toBe(640);
    expect(config.DELIVERY_IN_FLIGHT_PER_LANE_MAX).toBe(10);
  });

  test('asks each role only for what it uses', () => {
    const { PORT, WEBHOOK_SEALING_PUBLIC_KEY, WEBHOOK_SEALING_PRIVATE_KEYS: _keys, ...rest } = ENV;
    const ofApi = { PORT, WEBHOOK_SEALING_PUBLIC_KEY };
    expect(readConfig(DispatcherConfig, { ...rest, ROLES: 'intake' }).ROLES).toEqual(['intake']);
    const api = readConfig(DispatcherConfig, { ...rest, ...ofApi, ROLES: 'api' });
    expect(api.WEBHOOK_SEALING_PRIVATE_KEYS).toBeUndefined();
    expectRefused({ ...rest, WEBHOOK_SEALING_PUBLIC_KEY, ROLES: 'api' }, /^PORT: /);
    expectRefused({ ...rest, PORT, ROLES: 'api' }, /^WEBHOOK_SEALING_PUBLIC_KEY: /);
    expectRefused({ ...rest, ROLES: 'sender' }, /^WEBHOOK_SEALING_PRIVATE_KEYS: /);
  });

  test('takes networks of the installation beside single addresses', () => {
    const WEBHOOK_FORBIDDEN_ADDRESSES = '203.0.113.0/28,2001:db8::20';
    const config = readConfig(DispatcherConfig, { ...ENV, WEBHOOK_FORBIDDEN_ADDRESSES });
    const addresses = ['203.0.113.15', '203.0.113.16', '2001:db8::20', '2001:db8::21'];
    expect(addresses.filter(config.WEBHOOK_FORBIDDEN_ADDRESSES)).toEqual([
      '203.0.113.15',
      '2001:db8::20',
    ]);
  });

  test.each([
    [{ ROLES: 'api,janitor' }, /^ROLES/],
    [{ DELIVERY_LEASE_MS: '11500' }, /^DELIVERY_LEASE_MS: /],
    [{ WEBHOOK_SEALING_PUBLIC_KEY: 'v1:nonsense' }, /^WEBHOOK_SEALING_PUBLIC_KEY: /],
    [{ WEBHOOK_SEALING_PRIVATE_KEYS: 'nonsense' }, /^WEBHOOK_SEALING_PRIVATE_KEYS: /],
    [{ WEBHOOK_DEV_RECEIVERS: 'nonsense' }, /^WEBHOOK_DEV_RECEIVERS: /],
    [{ WEBHOOK_FORBIDDEN_ADDRESSES: 'nonsense' }, /^WEBHOOK_FORBIDDEN_ADDRESSES: /],
    [
      { NODE_ENV: 'production', WEBHOOK_DEV_RECEIVERS: '*.receiver.example.com=127.0.0.1:1' },
      /^WEBHOOK_DEV_RECEIVERS: /,
    ],
  ])('refuses %o by its name', (change, message) => {
    expectRefused({ ...ENV, ...change }, message);
  });
});

function expectRefused(env: NodeJS.ProcessEnv, message: RegExp): void {
  const read = () => readConfig(DispatcherConfig, env);
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(message);
}
