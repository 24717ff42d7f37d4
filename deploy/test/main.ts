import { spawnSync } from 'node:child_process';

/** `npm run test:deploy`: the Go test of the chart, with a line of counts at the end. */
const { stdout, stderr, status } = spawnSync('go', ['test', '-p', '2', '-count=1', '-v', './...'], {
  cwd: import.meta.dirname,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
});
process.stdout.write(stdout ?? '');
process.stderr.write(stderr ?? 'test:deploy needs Go 1.26 on the PATH\n');
const passed = (stdout ?? '').match(/^\s*--- PASS/gm)?.length ?? 0;
const failed = (stdout ?? '').match(/^\s*--- FAIL/gm)?.length ?? 0;
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = status ?? 1;
