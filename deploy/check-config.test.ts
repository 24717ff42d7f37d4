import { spawnSync } from 'node:child_process';

import { processEnvironment } from '@pixmesh/testkit/process-environment';
import { expect, test } from 'vitest';

const LEDGER = {
  DATABASE_URL: 'postgres://u:canary@db/pixmesh',
  KAFKA_BROKERS: 'kafka:9093',
  SCHEMA_REGISTRY_URL: 'https://registry',
  MESH_TLS_DIR: '/run/mesh-tls',
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

test('a service that does not exist is refused, with those that do', () => {
  const { status, error } = check('ledgers', LEDGER);
  expect(status).toBe(1);
  expect(error).toMatch(/^--service: expected one of .*\bledger\b.*\bdeploy\b/);
});
