import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** npm as people run it, under this repository's settings, against a registry on the loopback. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NAME = 'probe';
const VERSION = '1.0.0';
const INSTALL_MS_MAX = 60_000;
const MANIFEST = {
  name: NAME,
  version: VERSION,
  scripts: { postinstall: `node -e "require('node:fs').writeFileSync('ran', '')"` },
};

let folder: string;
let registry: Server;
let genuine: Buffer;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'pixmesh-npm-'));
  genuine = pack('genuine', 'export const answer = 42;\n');
  const tampered = pack('tampered', 'export const answer = 43;\n');
  registry = serve({ genuine, tampered });
  registry.listen(0, '127.0.0.1');
  await once(registry, 'listening');
});

afterAll(() => {
  registry.close();
  rmSync(folder, { recursive: true, force: true });
});

describe.concurrent('npm ci', { timeout: 2 * INSTALL_MS_MAX }, () => {
  test('refuses an archive of other bytes than the lockfile names, whatever the registry says of it', async () => {
    const { code, output, installed } = await install({ served: 'tampered' });
    expect(output).toContain('EINTEGRITY');
    expect(code).not.toBe(0);
    expect(existsSync(installed)).toBe(false);
  });

  test('leaves out an optional package of other bytes', async () => {
    const { installed } = await install({ served: 'tampered', kind: 'optionalDependencies' });
    expect(existsSync(installed)).toBe(false);
  });

  test('installs the archive that the lockfile names, and does not run its install script', async () => {
    const { code, output, installed } = await install({ served: 'genuine' });
    expect({ code, output }).toMatchObject({ code: 0 });
    expect(readFileSync(path.join(installed, 'index.js'), 'utf8')).toContain('42');
    expect(existsSync(path.join(installed, 'ran'))).toBe(false);
  });
});

/** `npm ci` of a project whose lockfile names the genuine archive. */
async function install({
  served,
  kind = 'dependencies',
}: {
  served: 'genuine' | 'tampered';
  kind?: 'dependencies' | 'optionalDependencies';
}): Promise<{ code: number; output: string; installed: string }> {
  const project = mkdtempSync(path.join(folder, 'project-'));
  const root = { name: 'project', version: '1.0.0', [kind]: { [NAME]: VERSION } };
  const entry = { version: VERSION, integrity: sri(genuine), hasInstallScript: true };
  const optional = kind === 'optionalDependencies' ? { optional: true } : {};
  writeJson(path.join(project, 'package.json'), root);
  writeJson(path.join(project, 'package-lock.json'), {
    name: 'project',
    lockfileVersion: 3,
    packages: { '': root, [`node_modules/${NAME}`]: { ...entry, ...optional } },
  });
  copyFileSync(path.join(ROOT, '.npmrc'), path.join(project, '.npmrc'));
  const { port } = registry.address() as AddressInfo;
  const own = [
    ['registry', `http://127.0.0.1:${port}/${served}/`],
    ['cache', path.join(project, 'cache')],
    ['userconfig', path.join(project, 'none')],
    ['noproxy', '127.0.0.1'],
  ].map(([name, value]) => `--${name}=${value}`);
  const { code, output } = await run('npm', ['ci', ...own], project);
  return { code, output, installed: path.join(project, 'node_modules', NAME) };
}

/** A registry of one package, which says of each archive what fits it. */
function serve(archives: Record<string, Buffer>): Server {
  return createServer((request, response) => {
    const [, served = '', file] = (request.url ?? '').split('/');
    const archive = archives[served];
    if (archive === undefined) response.writeHead(404).end();
    else if (file?.endsWith('.tgz')) response.end(archive);
    else {
      const tarball = `http://${request.headers.host}/${served}/${NAME}.tgz`;
      const manifest = { ...MANIFEST, dist: { tarball, integrity: sri(archive) } };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ name: NAME, versions: { [VERSION]: manifest } }));
    }
  });
}

function pack(name: string, source: string): Buffer {
  const content = path.join(folder, name, 'package');
  mkdirSync(content, { recursive: true });
  writeJson(path.join(content, 'package.json'), MANIFEST);
  writeFileSync(path.join(content, 'index.js'), source);
  return execFileSync('tar', ['-czf', '-', '-C', path.dirname(content), 'package']);
}

function sri(archive: Buffer): string {
  return `sha512-${createHash('sha512').update(archive).digest('base64')}`;
}

function writeJson(file: string, value: unknown): void {
  writeFileSync(file, JSON.stringify(value));
}

/** Without the settings that an npm around this test hands down. */
function run(
  command: string,
  args: readonly string[],
  cwd: string,
): Promise<{ code: number; output: string }> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)),
  );
  return new Promise((resolve) => {
    execFile(command, args, { cwd, env, timeout: INSTALL_MS_MAX }, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code ?? 1);
      resolve({ code, output: stdout + stderr });
    });
  });
}
