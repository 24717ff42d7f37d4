import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';

import { listFiles, readRepositoryFile as read } from './repository-files.ts';

/** The repository's own rules, where neither compiler nor linter sees them. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LINES_MAX = 400;
const THIS_FILE = 'tests/structure/tidy.test.ts';

const files = listFiles('{packages,services,deploy,benchmarks,tests,scripts,docs,.ci}/**/*').concat(
  listFiles('*.{md,json,ts,yml,yaml}'),
);
const sources = files.filter((file) => /\.(ts|mjs)$/.test(file) && file !== THIS_FILE);
const tests = sources.filter((file) => file.endsWith('.test.ts'));
const workspaces = files
  .filter((file) => /^(packages|services)\/[^/]+\/package\.json$/.test(file))
  .map((file) => path.dirname(file));

test('the rules look at the whole repository', () => {
  expect(sources.length).toBeGreaterThan(200);
  expect(tests.length).toBeGreaterThan(30);
  expect(workspaces).toEqual(expect.arrayContaining(['packages/kernel', 'services/charges']));
});

describe('imports', () => {
  test('nobody imports a service but the service itself', () => {
    const names = workspaces.filter((folder) => folder.startsWith('services/')).map(packageName);
    expect(
      offences(sources, (line, file) => {
        const target = importTarget(line);
        if (target === null) return false;
        if (names.some((name) => target === name || target.startsWith(`${name}/`))) return true;
        const resolved = path.join(path.dirname(file), target);
        return (
          target.startsWith('.') && resolved.startsWith('services/') && !isInside(resolved, file)
        );
      }),
    ).toEqual([]);
  });

  test('a package imports no service, and reaches other packages by their names', () => {
    const inPackages = sources.filter((file) => file.startsWith('packages/'));
    expect(
      offences(inPackages, (line, file) => {
        const target = importTarget(line);
        if (target === null || !target.startsWith('.')) return false;
        const resolved = path.join(path.dirname(file), target);
        return !isInside(resolved, file) && !isDeployInTest(resolved, file);
      }),
    ).toEqual([]);
  });

  test('only packages/kafka knows the broker and the registry', () => {
    const others = sources.filter((file) => !file.startsWith('packages/kafka/'));
    expect(
      offences(
        others,
        (line) =>
          /^(kafkajs|@kafkajs\/.*)$/.test(importTarget(line) ?? '') ||
          /\bproducer\.send/.test(line),
      ),
    ).toEqual([]);
  });
});

describe('names', () => {
  test('nothing is called by a name that fits everything', () => {
    const catchAll = /^(utils?|helpers?|commons?|shared|misc|types|lib|index)$/;
    const named = sources.filter((file) =>
      file.split('/').some((part) => catchAll.test(part.replace(/\..*$/, ''))),
    );
    expect(named).toEqual([]);
  });

  test('files are in kebab-case, with a suffix of the closed set', () => {
    const allowed =
      /^[a-z0-9]+(-[a-z0-9]+)*(\.v\d+)?(\.(route|consumer|job|sql|config|test|int\.test|e2e\.test))?\.(ts|mjs)$/;
    expect(sources.filter((file) => !allowed.test(path.basename(file)))).toEqual([]);
  });

  test('topics are named in contracts/topics.ts only', () => {
    const topic =
      /['"`](acquirer\.callbacks|(accounts|charges|payouts|ledger)\.(events|commands))\.v\d/;
    const programs = sources.filter((file) => !file.endsWith('.test.ts'));
    const elsewhere = programs.filter((file) => file !== 'packages/contracts/src/topics.ts');
    expect(offences(elsewhere, (line) => !isComment(line) && topic.test(line))).toEqual([]);
  });
});

describe('form', () => {
  test(`no source has more than ${LINES_MAX} lines`, () => {
    expect(sources.filter((file) => read(file).split('\n').length > LINES_MAX + 1)).toEqual([]);
  });

  test('exports have names', () => {
    const wanted = /^(vitest\.config\.ts|tests\/setup\/)/;
    const others = sources.filter((file) => !wanted.test(file));
    expect(offences(others, (line) => /^export default\b/.test(line))).toEqual([]);
  });

  test('debts are not noted in comments', () => {
    expect(offences(sources, (line) => /\b(TODO|FIXME|XXX|HACK)\b/.test(line))).toEqual([]);
  });

  test('no type error is talked away', () => {
    expect(offences(sources, (line) => /@ts-(ignore|nocheck|expect-error)/.test(line))).toEqual([]);
  });
});

describe('tests', () => {
  test('none is skipped, singled out or left for later', () => {
    const directive = /\b(test|it|describe)(\.\w+)*\.(skip|only|todo|fails|skipIf|runIf)\b/;
    expect(offences(tests, (line) => directive.test(line))).toEqual([]);
  });

  test('none sleeps: a test waits by `eventually`', () => {
    // The length of an outage is no wait for an outcome.
    const sleeping = /await (sleep|delay|setTimeout|wait)\((?!OUTAGE_MS\))/;
    expect(offences(tests, (line) => sleeping.test(line))).toEqual([]);
  });

  test('none replaces a module of ours', () => {
    expect(offences(tests, (line) => /\b(vi|vitest|jest)\.(mock|doMock)\(/.test(line))).toEqual([]);
  });

  test('every one asserts something', () => {
    expect(tests.filter((file) => !/\bexpect\w*\b|\bassert\b/.test(read(file)))).toEqual([]);
  });
});

describe('documents', () => {
  const HEADINGS = [
    'Purpose',
    'Owned tables',
    'Topics in and out',
    'Endpoints',
    'Configuration',
    'Invariants and runbook',
  ];

  test.each(workspaces)('%s has a README under the six headings', (folder) => {
    const file = `${folder}/README.md`;
    const text = existsSync(path.join(ROOT, file)) ? read(file) : '';
    const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(HEADINGS);
  });

  test('links between documents lead somewhere', () => {
    const broken = files
      .filter((file) => file.endsWith('.md'))
      .flatMap((file) =>
        [...read(file).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)]
          .filter(([, target = '']) => !existsSync(path.join(ROOT, path.dirname(file), target)))
          .map(([, target]) => `${file}: ${target}`),
      );
    expect(broken).toEqual([]);
  });
});

test('nothing names the machine or the registry it was made on', () => {
  const place = /\/work\/|\.\.\/shared\/|\/tmp\/house|registry\.npmjs\.org|artifactory|verdaccio/i;
  const texts = files.filter((file) => /\.(ts|mjs|json|md|sql|ya?ml|sh)$/.test(file));
  const checked = texts.filter((file) => file !== THIS_FILE);
  expect(offences(checked, (line) => place.test(line))).toEqual([]);
});

/** Lines that break a rule, as `file:line`. */
function offences(
  candidates: readonly string[],
  breaks: (line: string, file: string) => boolean,
): string[] {
  return candidates.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, index) => (breaks(line, file) ? [`${file}:${index + 1}`] : [])),
  );
}

function importTarget(line: string): string | null {
  return /(?:from|import)\s*\(?['"]([^'"]+)['"]/.exec(line)?.[1] ?? null;
}

/** Whether both belong to the same package or service. */
function isInside(resolved: string, file: string): boolean {
  return resolved.startsWith(`${file.split('/').slice(0, 2).join('/')}/`);
}

/** A test may ask the deploy job what it would do. */
function isDeployInTest(resolved: string, file: string): boolean {
  return resolved.startsWith('deploy/') && file.endsWith('.int.test.ts');
}

function isComment(line: string): boolean {
  return /^\s*(\/\/|\/?\*)/.test(line);
}

function packageName(folder: string): string {
  return (JSON.parse(read(`${folder}/package.json`)) as { name: string }).name;
}
