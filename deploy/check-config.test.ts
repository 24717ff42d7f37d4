import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { openMeshAuthority, renewIdentity } from '@pixmesh/certificates/mesh-authority';
import { processEnvironment } from '@pixmesh/testkit/process-environment';
import { afterAll, beforeAll, expect, test } from 'vitest';

const home = mkdtempSync(path.join(tmpdir(), 'pixmesh-check-config-'));
const identity = path.join(home, 'ledger');
beforeAll(async () => {
  const now = new Date();
  const authority = await openMeshAuthority(path.join(home, 'authority'), now);
  await renewIdentity(authority, identity, { name: 'ledger', hosts: [], now });
});
afterAll(() => rmSync(home, { recursive: true }));

const LEDGER = {
  DATABASE_URL: 'postgres://u:canary@db/pixmesh',
  KAFKA_BROKERS: 'kafka:9093',
  SCHEMA_REGISTRY_URL: 'https://registry',
  MESH_TLS_DIR: identity,
  INTERNAL_PORT: '9090',
  PORT: '8080',
};

function check(service: string, env: NodeJS.ProcessEnv) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['deploy/check-config.ts', '--service', service],
    { env: { ...processEnvironment(), ...env }, encoding: 'utf8' },
  );
  return { status, lines: stdout.trimEnd().split('\n'), error: stderr.trimEnd() };
}

test('what a start would refuse is printed at once, and fails', () => {
  const { status, lines, error } = check('ledger', {
    ...LEDGER,
    FAILPOINTS_PORT: '8000',
    PORT: 'http',
    MESH_TLS_DIR: '',
    MESH_TLS_DIR_FILE: '/nowhere',
  });
  expect(lines.toSorted()).toEqual([
    'refused: DATABASE_URL: expected a URL with sslmode=verify-full in production',
    'refused: FAILPOINTS_PORT: expected to be absent in production',
    'refused: MESH_TLS_DIR_FILE: expected the path of a readable file',
    'refused: PORT: expected a port number',
  ]);
  expect({ status, error }).toEqual({ status: 1, error: 'ledger would not start: 4 refused' });
  expect(lines.join()).not.toContain('canary');
});

test('what PIXMESH_ALLOW_PLAINTEXT lets pass is printed, and does not fail', () => {
  const env = { ...LEDGER, PIXMESH_ALLOW_PLAINTEXT: 'postgres,redis' };
  expect(check('ledger', env)).toEqual({
    status: 0,
    lines: [
      'allowed by PIXMESH_ALLOW_PLAINTEXT: DATABASE_URL: expected a URL with sslmode=verify-full in production',
      'ledger accepts this environment',
    ],
    error: '',
  });
});

test('files of an identity that cannot be used are refused, without their path', () => {
  const { status, lines } = check('ledger', {
    ...LEDGER,
    DATABASE_URL: `${LEDGER.DATABASE_URL}?sslmode=verify-full`,
    MESH_TLS_DIR: path.join(home, 'authority'),
  });
  expect(status).toBe(1);
  expect(lines).toEqual([expect.stringMatching(/^refused: MESH_TLS_DIR: expected a folder with /)]);
  expect(lines.join()).not.toContain(home);
});

test('what a deploy job needs beside another setting is refused at once', () => {
  const { lines } = check('deploy', { ADMIN_DATABASE_URL: 'nowhere', KAFKA_BROKERS: 'kafka:9093' });
  const named = lines.map((line) => line.replace('refused: ', '').split(':')[0]);
  expect(named).toEqual(
    expect.arrayContaining([
      'ADMIN_DATABASE_URL',
      'MESH_TLS_DIR',
      'DATABASE_PASSWORD_GATEWAY',
      'DATABASE_PASSWORD_WEBHOOK_DISPATCHER',
    ]),
  );
});

test('a service that does not exist is refused, with those that do', () => {
  const { status, error } = check('ledgers', LEDGER);
  expect(status).toBe(1);
  expect(error).toMatch(/^--service: expected one of .*\bledger\b.*\bdeploy\b/);
});
