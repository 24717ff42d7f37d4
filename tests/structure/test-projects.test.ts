import { globSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import config from '../../vitest.config.ts';
import { listFiles } from './repository-files.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Run in the long run only, where the project has files. */
const LONG_ONLY = 'tests/e2e/long/';

type Files = { name: string; include: string[]; exclude?: string[] };

const projects = (config.test?.projects ?? []).map(
  (project) => (project as unknown as { test: Files }).test,
);

test('each test file runs in one project, and each folder of the e2e ring has one', () => {
  const runs = projects.flatMap(({ name, include, exclude = [] }) =>
    globSync(include, { cwd: ROOT, exclude: ['**/node_modules/**', ...exclude] }).map((file) => ({
      name,
      file,
    })),
  );
  const byFile = Map.groupBy(runs, ({ file }) => file);
  const files = listFiles('{packages,services,deploy,tests,benchmarks,scripts}/**/*.test.ts');
  const odd = files
    .filter((file) => !file.startsWith(LONG_ONLY))
    .map((file) => [file, ...(byFile.get(file) ?? []).map(({ name }) => name)])
    .filter((line) => line.length !== 2);
  expect(odd).toEqual([]);
  const folders = runs.flatMap(({ name, file }) =>
    name.startsWith('e2e') ? [`${name} ${path.dirname(file)}`] : [],
  );
  expect([...new Set(folders)].toSorted()).toEqual([
    'e2e tests/e2e',
    'e2e-alone tests/e2e/alone',
    'e2e-end tests/e2e/end',
    'e2e-measured tests/e2e/measured',
  ]);
});
