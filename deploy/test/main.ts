import { spawnSync } from 'node:child_process';

import { testRules } from './rules.ts';

/** `npm run test:deploy`: the Go test of the chart and promtool's of the rules, with a line of counts at the end. */
const { stdout, stderr, status } = spawnSync('go', ['test', '-p', '2', '-count=1', '-v', './...'], {
  cwd: import.meta.dirname,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
});
process.stdout.write(stdout ?? '');
process.stderr.write(stderr ?? 'test:deploy needs Go 1.26 on the PATH\n');
const passed = (stdout ?? '').match(/^\s*--- PASS/gm)?.length ?? 0;
const failed = (stdout ?? '').match(/^\s*--- FAIL/gm)?.length ?? 0;
const rules = testRules();
process.stdout.write(`${passed + rules.passed} passed, ${failed + rules.failed} failed\n`);
process.exitCode = rules.failed > 0 ? 1 : (status ?? 1);
