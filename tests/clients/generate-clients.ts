import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { installRequirements } from '../python/install-requirements.ts';

const TYPESCRIPT = fileURLToPath(new URL('typescript/', import.meta.url));
const PYTHON = fileURLToPath(new URL('python/', import.meta.url));
const TSC = fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url));

const STEP_MS_MAX = 120_000;

/** A merchant's program on a generated client: how to start it. */
export type Shop = { command: string; args: readonly string[]; env: Record<string, string> };

/** Types by openapi-typescript, checked together with the shop under `strict`. */
export function generateTypeScriptShop(document: object): Shop {
  const generated = emptyFolder(TYPESCRIPT);
  const file = path.join(generated, 'openapi.json');
  writeFileSync(file, JSON.stringify(document));
  const generator = path.join(TYPESCRIPT, 'node_modules/.bin/openapi-typescript');
  run(generator, [file, '--output', path.join(generated, 'api.d.ts')]);
  run(TSC, ['--project', TYPESCRIPT]);
  return { command: process.execPath, args: [path.join(TYPESCRIPT, 'shop.ts')], env: {} };
}

/** A package by openapi-python-client, compiled whole. */
export function generatePythonShop(document: object): Shop {
  const requirements = path.join(PYTHON, 'requirements.txt');
  const programs = installRequirements(requirements, { name: 'python-client' });
  const generated = emptyFolder(PYTHON);
  const file = path.join(generated, 'openapi.json');
  writeFileSync(file, JSON.stringify(document));
  const python = path.join(programs, 'python');
  const folder = path.join(generated, 'pix_client');
  const options = ['--meta', 'none', '--fail-on-warning', '--output-path', folder];
  // Its formatter stands beside it in the environment.
  const env = { PATH: `${programs}${path.delimiter}${process.env['PATH'] ?? ''}` };
  run(path.join(programs, 'openapi-python-client'), ['generate', '--path', file, ...options], env);
  run(python, ['-m', 'compileall', '-q', generated]);
  return { command: python, args: [path.join(PYTHON, 'shop.py')], env: { PYTHONPATH: generated } };
}

function emptyFolder(of: string): string {
  const folder = path.join(of, '.pixmesh-generated');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  return folder;
}

function run(command: string, args: readonly string[], env: Record<string, string> = {}): void {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    timeout: STEP_MS_MAX,
  });
  if (status === 0) return;
  throw new Error(`${path.basename(command)} failed: ${error?.message ?? ''}${stdout}${stderr}`);
}
