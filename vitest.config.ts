import { defineConfig } from 'vitest/config';

/** One a core, and never alone: tests wait for the network too. */
const WORKERS = 2;

/**
 * Three rings, chosen by file name so that no package can be forgotten: `unit` touches nothing,
 * `int` uses real Postgres, Kafka, registry and Redis, `e2e` drives a whole running stack.
 */
export default defineConfig({
  test: {
    // Node strips the types itself, as in production: no file is transformed, and none is mocked.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            '{packages,services}/*/{src,test}/**/*.test.ts',
            'deploy/**/*.test.ts',
            'tests/{,fuzz/}*.test.ts',
          ],
          exclude: ['**/*.int.test.ts', '**/*.e2e.test.ts', '**/node_modules/**'],
          setupFiles: ['tests/setup/seed.ts'],
          // Files share a process and its modules; a file ends what it begins.
          isolate: false,
          maxWorkers: WORKERS,
          // Properties take seconds on a busy machine; a unit that waits for anything still ends here.
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'int',
          include: ['{packages,services}/*/{src,test}/**/*.int.test.ts', 'deploy/**/*.int.test.ts'],
          globalSetup: ['tests/setup/infra.ts'],
          setupFiles: ['tests/setup/seed.ts'],
          isolate: false,
          testTimeout: 30_000,
          hookTimeout: 60_000,
          maxWorkers: WORKERS,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['tests/e2e/**/*.e2e.test.ts'],
          globalSetup: ['tests/setup/stack.ts'],
          setupFiles: ['tests/setup/seed.ts'],
          testTimeout: 180_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
