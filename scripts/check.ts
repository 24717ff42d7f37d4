import { spawnSync } from 'node:child_process';

/** `npm run check`: format, lint, types and dead code, in parallel and cached by turbo. */
const TASKS = ['check:format', 'check:lint', 'check:types', 'check:unused'];

const result = spawnSync(
  'turbo',
  ['run', ...TASKS.map((task) => `//#${task}`), '--continue', '--output-logs=errors-only'],
  {
    stdio: 'inherit',
    env: { ...process.env, DO_NOT_TRACK: '1', TURBO_TELEMETRY_DISABLED: '1' },
  },
);
process.exitCode = result.status ?? 1;
