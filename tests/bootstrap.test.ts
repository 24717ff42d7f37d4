import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

const BOOTSTRAP = fileURLToPath(new URL('../scripts/bootstrap.mjs', import.meta.url));
/** Installs nothing but a link to the Node of this process, and says so as npm does. */
const NPM = `#!/bin/sh
bin=node_modules/node-linux-${process.arch}/bin
mkdir -p "$bin" node_modules/.bin && ln -s '${process.execPath}' "$bin/node"
echo added 1 package
`;

let clone: string;
beforeAll(() => {
  clone = mkdtempSync(path.join(tmpdir(), 'pixmesh-clone-'));
  mkdirSync(path.join(clone, 'scripts'));
  cpSync(BOOTSTRAP, path.join(clone, 'scripts/bootstrap.mjs'));
  writeFileSync(path.join(clone, 'package-lock.json'), '{"packages":{}}');
  writeFileSync(path.join(clone, 'entry.ts'), "process.stdout.write('secret');");
  mkdirSync(path.join(clone, 'bin'));
  writeFileSync(path.join(clone, 'bin/npm'), NPM, { mode: 0o755 });
});
afterAll(() => rmSync(clone, { recursive: true, force: true }));

test('the first command of a fresh clone writes to stdout what its entry prints, and nothing of npm', () => {
  const { stdout, stderr } = spawnSync(process.execPath, ['scripts/bootstrap.mjs', 'entry.ts'], {
    cwd: clone,
    env: { PATH: `${path.join(clone, 'bin')}:/usr/bin:/bin` },
    encoding: 'utf8',
  });
  expect(stdout).toBe('secret');
  expect(stderr).toContain('added 1 package');
});
