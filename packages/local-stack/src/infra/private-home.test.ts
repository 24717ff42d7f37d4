import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { openPrivateHome } from './private-home.ts';

/** Root lets the account of Postgres pass through, and list nothing. */
const FOLDER = process.getuid?.() === 0 ? 0o711 : 0o700;

test('a home, a new one or one of before, and what is written in it are for their owner alone', () => {
  const umask = process.umask();
  const folder = mkdtempSync(path.join(tmpdir(), 'pixmesh-home-'));
  onTestFinished(() => {
    process.umask(umask);
    rmSync(folder, { recursive: true });
  });
  const homes = [path.join(folder, 'new'), path.join(folder, 'old')];
  mkdirSync(homes[1] ?? '');
  chmodSync(homes[1] ?? '', 0o755);
  for (const home of homes) {
    openPrivateHome(home);
    mkdirSync(path.join(home, 'logs'));
    writeFileSync(path.join(home, 'logs', 'gateway.log'), '');
    expect(modeOf(home)).toBe(FOLDER);
    expect(modeOf(path.join(home, 'logs'))).toBe(0o700);
    expect(modeOf(path.join(home, 'logs', 'gateway.log'))).toBe(0o600);
  }
});

function modeOf(file: string): number {
  return statSync(file).mode & 0o777;
}
