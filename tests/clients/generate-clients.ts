import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { installRequirements } from '../python/install-requirements.ts';
import { runProgram } from '../python/run-program.ts';

const TYPESCRIPT = fileURLToPath(new URL('typescript/', import.meta.url));
const PYTHON = fileURLToPath(new URL('python/', import.meta.url));
const TSC = fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url));

const STEP_MS_MAX = 120_000;

/** A merchant's program on a generated client: how to start it. */
export type Shop = { command: string; args: readonly string[]; env: Record<string, string> };

/** Types by openapi-typescript, checked together with the shop under `strict`. */
export async function generateTypeScriptShop(document: object): Promise<Shop> {
  const generated = emptyFolder(TYPESCRIPT);
  const file = path.join(generated, 'openapi.json');
  writeFileSync(file, JSON.stringify(document));
  const generator = path.join(TYPESCRIPT, 'node_modules/.bin/openapi-typescript');
  await run(generator, [file, '--output', path.join(generated, 'api.d.ts')]);
  await run(TSC, ['--project', TYPESCRIPT]);
  return { command: process.execPath, args: [path.join(TYPESCRIPT, 'shop.ts')], env: {} };
}

/** A package by openapi-python-client, compiled whole. */
export async function generatePythonShop(document: object): Promise<Shop> {
  const requirements = path.join(PYTHON, 'requirements.txt');
  const programs = await installRequirements(requirements, { name: 'python-client' });
  const generated = emptyFolder(PYTHON);
  const file = path.join(generated, 'openapi.json');
  writeFileSync(file, JSON.stringify(document));
  const python = path.join(programs, 'python');
  const folder = path.join(generated, 'pix_client');
  const options = ['--meta', 'none', '--fail-on-warning', '--output-path', folder];
  // Its formatter stands beside it in the environment.
  const env = { PATH: `${programs}${path.delimiter}${process.env['PATH'] ?? ''}` };
  const generate = ['generate', '--path', file, ...options];
  await run(path.join(programs, 'openapi-python-client'), generate, env);
  await run(python, ['-m', 'compileall', '-q', generated]);
  return { command: python, args: [path.join(PYTHON, 'shop.py')], env: { PYTHONPATH: generated } };
}

function emptyFolder(of: string): string {
  const folder = path.join(of, '.pixmesh-generated');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  return folder;
}

async function run(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<void> {
  await runProgram(command, args, { timeoutMs: STEP_MS_MAX, env });
}
