import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const SQUAWK = fileURLToPath(new URL('../../node_modules/.bin/squawk', import.meta.url));
const POSTGRES_VERSION = '18.0';
const LINT_MS_MAX = 15_000;

/**
 * Squawk's rules about locks and about the version that still runs are all on. These are not: the job that migrates sets
 * the time-out of locks, a validation that takes its time holds up nothing, and the rest is a matter of style.
 */
const RULES_OFF = [
  'require-lock-timeout',
  'require-statement-timeout',
  'prefer-bigint-over-int',
  'prefer-bigint-over-smallint',
  'prefer-identity',
  'prefer-robust-stmts',
  'prefer-text-field',
  'prefer-timestamptz',
];

/** What the linter says of these files, as `file:line rule`. */
export function lintMigrations(files: readonly string[]): string[] {
  const flags = ['--reporter', 'json', '--pg-version', POSTGRES_VERSION, '--assume-in-transaction'];
  const rules = RULES_OFF.map((rule) => `--exclude=${rule}`);
  const { stdout, stderr, status, error } = spawnSync(SQUAWK, [...flags, ...rules, ...files], {
    encoding: 'utf8',
    timeout: LINT_MS_MAX,
  });
  // 1 where something was found.
  if (error !== undefined || (status !== 0 && status !== 1)) {
    throw new Error(`the linter did not run: ${stderr}`, { cause: error });
  }
  const findings = JSON.parse(stdout) as { file: string; line: number; rule_name: string }[];
  return findings.map(({ file, line, rule_name: rule }) => `${file}:${line + 1} ${rule}`);
}
