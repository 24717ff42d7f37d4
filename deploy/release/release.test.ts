import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { parseImageLock, renderImageLock } from '../images/image-lock.ts';
import { buildCommands } from './build-commands.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const FILES = ['package.json', 'package-lock.json', 'CHANGELOG.md', 'packages/kernel/package.json'];
const LOCK = 'deploy/images.lock';
const DIGEST = `sha256:${'a'.repeat(64)}`;

/** The lock with a digest of each image: no registry is asked here. */
const text = readFileSync(path.join(ROOT, LOCK), 'utf8');
const images = [...parseImageLock(text).keys()];
const whole = renderImageLock(text, new Map(images.map((image) => [image, DIGEST])));

/** A repository with the files that a release changes, on a branch of its own. */
function aRepository() {
  const folder = mkdtempSync(path.join(tmpdir(), 'pixmesh-release-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const file of ['benchmarks', 'tests/clients/typescript', 'deploy'])
    copy(`${file}/package.json`);
  for (const file of [...FILES, 'deploy/helm/pixmesh', 'deploy/release', 'deploy/last-release'])
    copy(file);
  copy('deploy/images');
  for (const service of ['ledger', 'gateway']) copy(`services/${service}/package.json`);
  write(LOCK, whole);
  git('init', '--quiet');
  git('config', 'user.name', 'Ana');
  git('config', 'user.email', 'ana@example.com');
  commit();
  return { read, write, git, commit, release };

  function copy(file: string): void {
    cpSync(path.join(ROOT, file), path.join(folder, file), { recursive: true });
  }
  function read(file: string): string {
    return readFileSync(path.join(folder, file), 'utf8');
  }
  function write(file: string, text: string): void {
    writeFileSync(path.join(folder, file), text);
  }
  function git(...args: string[]): string {
    return execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim();
  }
  function commit(): void {
    git('add', '--all');
    git('commit', '--quiet', '--message', 'change');
  }
  function release(version: string): string {
    const entry = 'deploy/release/main.ts';
    return execFileSync(process.execPath, [entry, version], {
      cwd: folder,
      encoding: 'utf8',
      stdio: 'pipe',
    });
  }
}

test('a release has one version everywhere, a tag, and is the one that upgrades start from', () => {
  const { read, git, release } = aRepository();
  release('7.0.0');
  const lock = JSON.parse(read('package-lock.json'));
  expect(
    ['package.json', 'packages/kernel/package.json'].map((file) => JSON.parse(read(file)).version),
  ).toEqual(['7.0.0', '7.0.0']);
  expect([
    lock.version,
    lock.packages[''].version,
    lock.packages['services/ledger'].version,
  ]).toEqual(['7.0.0', '7.0.0', '7.0.0']);
  expect(lock.packages['node_modules/vitest'].version).not.toBe('7.0.0');
  expect(read('deploy/helm/pixmesh/Chart.yaml')).toMatch(
    /^version: 7\.0\.0\nappVersion: 7\.0\.0$/m,
  );
  expect(read('deploy/helm/pixmesh/values.yaml')).toMatch(/^ {2}tag: 7\.0\.0$/m);
  expect(read('CHANGELOG.md')).toMatch(/^## Unreleased\n\n## 7\.0\.0 \(\d{4}-\d\d-\d\d\)\n\n- /m);
  expect(read('deploy/last-release').trim()).toBe(git('rev-parse', 'v7.0.0^{commit}'));
  expect(git('status', '--porcelain')).toBe('');
});

test('a release that changes nothing, goes back, or would take what is not committed is refused', () => {
  const { read, write, commit, release } = aRepository();
  expect(() => release('0.0.1')).toThrow('0.0.1 is not above');
  expect(() => release('next')).toThrow('next is no version');
  write('note.txt', 'not committed');
  expect(() => release('7.0.0')).toThrow('what is not committed is no release');
  commit();
  release('7.0.0');
  expect(() => release('7.0.0')).toThrow('7.0.0 is not above 7.0.0');
  expect(() => release('7.0.1')).toThrow('CHANGELOG.md has nothing under Unreleased');
  expect(JSON.parse(read('package.json')).version).toBe('7.0.0');
});

test('a release and its images are refused in one line while an image has no digest, with the command that asks for it', () => {
  const { read, write, commit, release } = aRepository();
  write(LOCK, whole.replace(`redis:8 ${DIGEST}`, 'redis:8 -'));
  commit();
  const line =
    'release: deploy/images.lock has no digest of redis:8: fill it in by `node scripts/bootstrap.mjs deploy/images/main.ts refresh`\n';
  for (const wanted of ['7.0.0', 'images']) {
    expect(() => release(wanted)).toThrow(expect.objectContaining({ stderr: line }));
  }
  expect(JSON.parse(read('package.json')).version).not.toBe('7.0.0');
});

test('the commands that build the images are printed where the release is checked out, and nowhere else', () => {
  const { write, git, commit, release } = aRepository();
  const images = () => release('images');
  expect(images).toThrow(/release: expected the tag v\d+\.\d+\.\d+ here/);
  release('7.0.0');
  expect(images()).toContain(`REVISION=${git('rev-parse', 'v7.0.0^{commit}')} `);
  write('services/note.txt', 'not committed');
  expect(images).toThrow('release: expected what v7.0.0 is: run `git checkout v7.0.0`');
  commit();
  expect(images).toThrow('release: expected what v7.0.0 is: run `git checkout v7.0.0`');
  git('checkout', '--quiet', 'v7.0.0');
  expect(images()).toContain('-t pixmesh/ledger:7.0.0 ');
});

test('images are built from the digest of their base, which the lock file has to name', () => {
  const release = { version: '7.0.0', revision: 'abc', targets: ['ledger', 'jobs'] };
  const commands = buildCommands(parseImageLock(`# pinned\nnode:24-slim ${DIGEST}\n`), release);
  expect(commands).toHaveLength(2);
  expect(commands[0]).toBe(
    `docker build -f deploy/Dockerfile --build-arg NODE_IMAGE=node:24-slim@${DIGEST} --build-arg VERSION=7.0.0 ` +
      '--build-arg REVISION=abc --target ledger -t pixmesh/ledger:7.0.0 .',
  );
  expect(() => buildCommands(parseImageLock(`redis:8 ${DIGEST}`), release)).toThrow(
    'no digest of node:24-slim',
  );
});
