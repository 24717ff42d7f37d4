import { ConfigError, readConfig } from '@pixmesh/service/config';
import { describe, expect, test } from 'vitest';

import { LedgerConfig } from './config.ts';

const COMPLETE = {
  NODE_ENV: 'development',
  DATABASE_URL: 'postgres://pixmesh_ledger:secret@127.0.0.1:5432/pixmesh',
  INTERNAL_PORT: '9100',
  PORT: '9000',
  MESH_TLS_DIR: '/identity',
  KAFKA_BROKERS: 'one:9092,two:9092',
  SCHEMA_REGISTRY_URL: 'http://127.0.0.1:8081',
};

describe('configuration', () => {
  test('of an installation is read with its defaults', () => {
    expect(readConfig(LedgerConfig, COMPLETE)).toMatchObject({
      HOST: '127.0.0.1',
      PORT: 9000,
      KAFKA_BROKERS: ['one:9092', 'two:9092'],
      KAFKA_TOPIC_PREFIX: '',
      NODE_ENV: 'development',
    });
  });

  const { NODE_ENV: _, ...needed } = COMPLETE;
  test.each(Object.keys(needed))('without %s stops the boot and names it', (name) => {
    const { [name as keyof typeof COMPLETE]: _missing, ...rest } = COMPLETE;
    expect(() => readConfig(LedgerConfig, rest)).toThrow(ConfigError);
    expect(() => readConfig(LedgerConfig, rest)).toThrow(`${name}: expected`);
  });

  test.each([
    ['PORT', 'http', 'PORT: expected a port number'],
    ['DATABASE_URL', 'mysql://127.0.0.1/ledger', 'DATABASE_URL: expected a postgres:// URL'],
  ])('with a wrong %s stops the boot and never shows the value', (name, value, message) => {
    const read = () => readConfig(LedgerConfig, { ...COMPLETE, [name]: value });
    expect(read).toThrow(message);
    expect(read).not.toThrow(value);
  });
});
