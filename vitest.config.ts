import path from 'node:path';

import { defineConfig } from 'vitest/config';

import { isLong, scaled } from './packages/testkit/src/long-runs.ts';
import { ALONE_WORKERS } from './tests/setup/alone-workers.ts';
import { SlowestFirst } from './tests/setup/slowest-first.ts';

// Kept between processes and runs: workers and the services that tests start load in half the time.
process.env['NODE_COMPILE_CACHE'] ??= path.resolve('node_modules/.cache/node-compile');

/** Some wait for time limits of connections. */
const UNIT_WORKERS = 3;
/** Files of the int ring wait for leases, brokers and processes more than they work. */
const INT_WORKERS = 5;

/** Files of the e2e ring mostly wait for the mesh. */
const E2E_WORKERS = 4;

const FAILURE_CHARACTERS_MAX = 1_000;

/** As `eventually` of the testkit: a busy machine is no failure. */
const POLLED = { expect: { poll: { timeout: 15_000 } } };

const E2E = {
  globalSetup: ['tests/setup/stack.ts'],
  setupFiles: ['tests/setup/seed.ts', 'tests/setup/short-connections.ts'],
  // As in the other rings: a file ends what it begins.
  isolate: false,
  testTimeout: 180_000,
  hookTimeout: 120_000,
};

/** Files of the long run that boot a stack of their own, and need none beside it. */
const OWN_STACK = ['tests/e2e/long/*.e2e.test.ts'];

/**
 * Three rings, chosen by file name so that no package can be forgotten: `unit` touches nothing,
 * `int` uses real Postgres, Kafka, registry and Redis, `e2e` drives a whole running stack: first files that keep to
 * accounts of their own, side by side; then those that kill, stop or break it for everyone, each alone on one of two
 * stacks (`e2e-alone`); then those that measure, alone on the machine (`e2e-measured`); then what holds of everything
 * that they did (`e2e-end`). In the long run, files with stacks of their own (`e2e-own`).
 */
export default defineConfig({
  test: {
    // Node strips the types itself, as in production: no file is transformed, and none is mocked.
    sequence: { sequencer: SlowestFirst },
    // The first line of a failure is all that the summary of a run repeats: it says which items a list had left.
    chaiConfig: { truncateThreshold: FAILURE_CHARACTERS_MAX },
    experimental: { viteModuleRunner: false, nodeLoader: false },
    projects: [
      {
        test: {
          name: 'unit',
          ...POLLED,
          include: [
            '{packages,services}/*/{src,test}/**/*.test.ts',
            'deploy/**/*.test.ts',
            'tests/**/*.test.ts',
          ],
          exclude: ['**/*.int.test.ts', '**/*.e2e.test.ts', '**/node_modules/**'],
          setupFiles: ['tests/setup/seed.ts'],
          // Files share a process and its modules; a file ends what it begins.
          isolate: false,
          maxWorkers: UNIT_WORKERS,
          // Properties take seconds on a busy machine; a unit that waits for anything still ends here.
          testTimeout: 20_000,
          // Some install or list packages.
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'int',
          ...POLLED,
          include: ['{packages,services}/*/{src,test}/**/*.int.test.ts', 'deploy/**/*.int.test.ts'],
          globalSetup: ['tests/setup/infra.ts'],
          setupFiles: ['tests/setup/seed.ts', 'tests/setup/short-connections.ts'],
          isolate: false,
          // Several boots of processes on a busy machine; at full volume a test takes minutes.
          testTimeout: scaled(60_000, 1_800_000),
          hookTimeout: 90_000,
          maxWorkers: INT_WORKERS,
        },
      },
      {
        test: {
          ...E2E,
          name: 'e2e',
          include: ['tests/e2e/*.e2e.test.ts'],
          maxWorkers: E2E_WORKERS,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...E2E,
          name: 'e2e-alone',
          include: ['tests/e2e/alone/*.e2e.test.ts'],
          setupFiles: [...E2E.setupFiles, 'tests/setup/stack-of-worker.ts'],
          maxWorkers: ALONE_WORKERS,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...E2E,
          name: 'e2e-measured',
          include: ['tests/e2e/measured/*.e2e.test.ts'],
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          ...E2E,
          name: 'e2e-own',
          include: isLong ? OWN_STACK : [],
          // Beside the ring's stack a machine of two cores would be full before anything is measured.
          globalSetup: [],
          fileParallelism: false,
          sequence: { groupOrder: 5 },
        },
      },
      {
        test: {
          ...E2E,
          name: 'e2e-end',
          include: ['tests/e2e/end/*.e2e.test.ts'],
          fileParallelism: false,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
});
