import { execFileSync } from 'node:child_process';
import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

import { type ImageLock, parseImageLock, requireDigests } from '../images/image-lock.ts';
import { buildCommands } from './build-commands.ts';
import { requireLater, withChartVersion, withPackageVersion, withRelease } from './next-version.ts';

/**
 * `npm run release -- 1.2.3` makes a release of what is committed: the changelog, the version of packages, images and
 * chart, a commit, its tag, and a second commit by which `deploy/last-release` names it. `… images` prints the commands
 * that build the images of the release that is checked out. Both are refused while `deploy/images.lock` lacks a digest.
 * Nothing is pushed.
 */
const MANIFESTS = [
  'package.json',
  'package-lock.json',
  'deploy/package.json',
  'benchmarks/package.json',
  'tests/clients/typescript/package.json',
  ...globSync('{packages,services}/*/package.json'),
];
const CHART = ['deploy/helm/pixmesh/Chart.yaml', 'deploy/helm/pixmesh/values.yaml'];
const LAST_RELEASE = 'deploy/last-release';

const [wanted = ''] = process.argv.slice(2);
try {
  if (wanted === 'images') printBuildCommands();
  else release(wanted);
} catch (error) {
  process.stderr.write(`release: ${(error as Error).message}\n`);
  process.exitCode = 1;
}

function release(version: string): void {
  requireLater(version, presentVersion());
  if (git('status', '--porcelain') !== '') throw new Error('what is not committed is no release');
  readImageLock();
  const day = new Date().toISOString().slice(0, 10);
  rewrite('CHANGELOG.md', (text) => withRelease(text, version, day));
  for (const file of MANIFESTS) rewrite(file, (text) => withPackageVersion(text, version));
  for (const file of CHART) rewrite(file, (text) => withChartVersion(text, version));
  git('commit', '--quiet', '--all', '--message', `release: ${version}`);
  git('tag', '--annotate', `v${version}`, '--message', `Pixmesh ${version}`);
  writeFileSync(LAST_RELEASE, `${git('rev-parse', 'HEAD')}\n`);
  git(
    'commit',
    '--quiet',
    '--message',
    `release: upgrade from ${version} from now on`,
    LAST_RELEASE,
  );
  process.stdout.write(`v${version} is tagged; push the branch and the tag\n`);
}

function printBuildCommands(): void {
  const lock = readImageLock();
  const version = presentVersion();
  const revision = requireRelease(`v${version}`);
  const targets = [...readdirSync('services'), 'jobs'];
  const commands = buildCommands(lock, { version, revision, targets });
  process.stdout.write(`${commands.join('\n')}\n`);
}

/**
 * The commit of a release. Its images are built from the working tree, so they would hold what else is there under its
 * version.
 *
 * @throws Error where anything is not as it was released, except what the second commit of a release changes
 */
function requireRelease(tag: string): string {
  if (git('tag', '--list', tag) === '') throw new Error(`expected the tag ${tag} here`);
  const changed = git('diff', '--name-only', tag, '--', '.', `:!${LAST_RELEASE}`);
  if (changed !== '' || git('status', '--porcelain') !== '') {
    throw new Error(`expected what ${tag} is: run \`git checkout ${tag}\``);
  }
  return git('rev-parse', `${tag}^{commit}`);
}

/** What is released is built and run on images that are known by their bytes, all of them. */
function readImageLock(): ImageLock {
  const lock = parseImageLock(readFileSync('deploy/images.lock', 'utf8'));
  requireDigests(lock);
  return lock;
}

function presentVersion(): string {
  return (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version;
}

function rewrite(file: string, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8' }).trim();
}
