import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { IDENTITY_FILES } from '@pixmesh/certificates/mesh-identity';
import { findProgram } from './find-program.ts';

/** The first version that limits a user to channels. */
const VERSION_MIN = [6, 2] as const;
/** Redis stops at the first directive that it does not know, and names it. */
const UNKNOWN_DIRECTIVE = 'no-such-directive';

/** The `redis-server` on PATH, where it is new enough. */
export function findRedisServer(): string | undefined {
  const program = findProgram('redis-server');
  if (program === undefined) return undefined;
  return isNewEnough(run(program, ['--version'])) ? program : undefined;
}

/** `Redis server v=7.0.15 sha=…` */
function isNewEnough(text: string): boolean {
  const [, major, minor] = /\bv=(\d+)\.(\d+)/.exec(text) ?? [];
  const [majorMin, minorMin] = VERSION_MIN;
  return Number(major) > majorMin || (Number(major) === majorMin && Number(minor) >= minorMin);
}

/** Whether a server was built with TLS: distributions choose. */
export function speaksTls(program: string): boolean {
  return run(program, ['--tls-port', '0', `--${UNKNOWN_DIRECTIVE}`, '1']).includes(
    UNKNOWN_DIRECTIVE,
  );
}

/** Users prove themselves by their passwords; Redis by the certificate of this folder. */
export function tlsOptions(folder: string, port: number): Record<string, string> {
  return {
    port: '0',
    'tls-port': String(port),
    'tls-auth-clients': 'no',
    'tls-cert-file': join(folder, IDENTITY_FILES.cert),
    'tls-key-file': join(folder, IDENTITY_FILES.key),
    'tls-ca-cert-file': join(folder, IDENTITY_FILES.ca),
  };
}

export function toArguments(options: Readonly<Record<string, string>>): string[] {
  return Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
}

function run(program: string, args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: 10_000 });
  return `${stdout}${stderr}`;
}
