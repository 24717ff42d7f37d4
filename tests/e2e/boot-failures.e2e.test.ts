import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect, inject, test } from 'vitest';

/** On a machine that is busy with the other files. */
const BOOT_MS_MAX = 150_000;

type Outcome = { status: number | null; lines: string[] };

function runNode(args: readonly string[], env: NodeJS.ProcessEnv): Outcome {
  const result = spawnSync(process.execPath, args, { env, encoding: 'utf8', timeout: BOOT_MS_MAX });
  const lines = `${result.stdout}${result.stderr}`.split('\n').filter(Boolean);
  return { status: result.status, lines };
}

function freshHome(): string {
  return mkdtempSync(path.join(tmpdir(), 'pixmesh-boot-'));
}

test('a service without its settings names each of them in one line and ends', () => {
  const { status, lines } = runNode(
    ['--import', '@pixmesh/telemetry/preload', 'services/charges/src/main.ts'],
    { PATH: process.env['PATH'], INTERNAL_PORT: 'high' },
  );
  expect(status).toBe(1);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('INTERNAL_PORT: expected a port number');
  expect(lines[0]).toContain('ACQUIRER_URL: expected an http(s) URL');
  expect(lines[0]).toContain('DATABASE_URL');
});

test('a busy port is named with its variable, and nothing is left running', async () => {
  const squatter = createServer().listen(0, '127.0.0.1');
  await once(squatter, 'listening');
  const { port } = squatter.address() as AddressInfo;
  const home = freshHome();
  const { status, lines } = runNode(['packages/local-stack/src/start.ts', '--no-demo'], {
    ...process.env,
    PIXMESH_HOME: home,
    PIXMESH_GATEWAY_PORT: String(port),
  });
  squatter.close();
  expect(status).toBe(1);
  expect(lines.at(-1)).toContain(String(port));
  expect(lines.at(-1)).toContain('PIXMESH_GATEWAY_PORT');
  expectNothingRunning(home);
});

test('an absent Java is named, with what to install', () => {
  const home = freshHome();
  const { status, lines } = runNode(['packages/local-stack/src/start.ts', '--no-demo'], {
    ...process.env,
    PATH: path.dirname(process.execPath),
    JAVA_HOME: '',
    PIXMESH_INFRA: 'processes',
    PIXMESH_HOME: home,
  });
  expect(status).toBe(1);
  expect(lines.at(-1)).toMatch(/java/i);
  expectNothingRunning(home);
});

/** Every process of a stack writes to a log of its home, or carries its path in an argument. */
function expectNothingRunning(home: string): void {
  expect(home).not.toBe(inject('home'));
  const { stdout } = spawnSync('ps', ['axww', '-o', 'args'], { encoding: 'utf8' });
  expect(stdout.split('\n').filter((line) => line.includes(home))).toEqual([]);
  const outputs = spawnSync('sh', ['-c', 'readlink /proc/[0-9]*/fd/1'], {
    encoding: 'utf8',
  }).stdout;
  expect(outputs.split('\n').filter((target) => target.startsWith(home))).toEqual([]);
  expect(readdirSync(home).filter((file) => file === 'stack.json')).toEqual([]);
}
