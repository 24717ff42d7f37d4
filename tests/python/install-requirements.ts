import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const REQUIREMENTS = fileURLToPath(new URL('requirements.txt', import.meta.url));

/** Below it, the pinned versions do not install. */
const PYTHON_VERSION_MIN = [3, 11] as const;

const PYTHONS = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python'];

const INSTALL_MS_MAX = 300_000;

/**
 * Schemathesis in a virtual environment of its own, made on first use from the pinned versions and kept under
 * `cacheFolder` by their digest: nothing is installed into the machine. Answers its program.
 */
export function installSchemathesis(cacheFolder: string): string {
  const requirements = readFileSync(REQUIREMENTS);
  const digest = createHash('sha256').update(requirements).digest('hex').slice(0, 16);
  const home = path.resolve(cacheFolder, `schemathesis-${digest}`);
  // Written last: an installation that was cut off is made anew.
  const ready = path.join(home, 'ready');
  const programs = path.join(home, process.platform === 'win32' ? 'Scripts' : 'bin');
  if (!existsSync(ready)) {
    rmSync(home, { recursive: true, force: true });
    run(findPython(), ['-m', 'venv', home]);
    const options = ['--quiet', '--disable-pip-version-check', '--no-input'];
    const python = path.join(programs, 'python');
    run(python, ['-m', 'pip', 'install', ...options, '--requirement', REQUIREMENTS]);
    run(python, ['-m', 'pip', 'check']);
    writeFileSync(ready, '');
  }
  return path.join(programs, 'schemathesis');
}

function findPython(): string {
  const found = PYTHONS.find((python) => {
    const version = spawnSync(python, ['-c', 'import sys; print(*sys.version_info[:2])'], {
      encoding: 'utf8',
    });
    const [major = 0, minor = 0] = (version.stdout ?? '').split(' ').map(Number);
    return major === PYTHON_VERSION_MIN[0] && minor >= PYTHON_VERSION_MIN[1];
  });
  if (found !== undefined) return found;
  throw new Error(`contract fuzzing needs Python ${PYTHON_VERSION_MIN.join('.')} or later`);
}

function run(command: string, args: readonly string[]): void {
  const done = spawnSync(command, args, { encoding: 'utf8', timeout: INSTALL_MS_MAX });
  if (done.status === 0) return;
  const said = `${done.error?.message ?? ''}${done.stdout ?? ''}${done.stderr ?? ''}`;
  throw new Error(`${path.basename(command)} ${args.join(' ')} failed: ${said}`);
}
