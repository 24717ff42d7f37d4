import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { findPromtool } from '@pixmesh/local-stack/observe/find-observers';

/** Where the rules and their tests stand. */
const FOLDER = path.resolve(import.meta.dirname, '../observability/prometheus');
const CHECKS = [
  ['check', 'rules', 'rules.yml', 'recording.yml'],
  ['check', 'config', '--syntax-only', 'prometheus.yml'],
  ['check', 'config', '--syntax-only', '../compose/prometheus.yml'],
  ['test', 'rules', 'rules_test.yml'],
  ['test', 'rules', 'burns_test.yml'],
  ['test', 'rules', 'days_test.yml'],
];

/** Prometheus's own tests of the rules; answers how many of them passed and failed. */
export function testRules(): { passed: number; failed: number } {
  const promtool = findPromtool();
  let passed = 0;
  for (const args of CHECKS) {
    const { status, stdout, stderr } = spawnSync(promtool, args, {
      cwd: FOLDER,
      encoding: 'utf8',
    });
    process.stdout.write(`promtool ${args.join(' ')}\n${stdout}`);
    process.stderr.write(stderr);
    if (status === 0) passed += 1;
  }
  return { passed, failed: CHECKS.length - passed };
}
