import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

import { runProgram } from './run-program.ts';

/** Below it, the pinned versions do not install. */
const PYTHON_VERSION_MIN = [3, 11] as const;

const PYTHONS = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python'];

const INSTALL_MS_MAX = 300_000;

/**
 * Python programs in a virtual environment of their own, made on first use from the pinned versions and kept by their
 * digest where downloads of all clones are: nothing is installed into the machine. Answers the folder of its programs.
 */
export async function installRequirements(
  file: string,
  { name }: { name: string },
): Promise<string> {
  const requirements = readFileSync(file);
  const digest = createHash('sha256').update(requirements).digest('hex').slice(0, 16);
  const home = path.join(cacheFolder(), `${name}-${digest}`);
  // Written last: an installation that was cut off is made anew.
  const ready = path.join(home, 'ready');
  const programs = path.join(home, process.platform === 'win32' ? 'Scripts' : 'bin');
  if (!existsSync(ready)) {
    rmSync(home, { recursive: true, force: true });
    const limit = { timeoutMs: INSTALL_MS_MAX };
    await runProgram(findPython(name), ['-m', 'venv', home], limit);
    const options = ['--quiet', '--disable-pip-version-check', '--no-input'];
    const python = path.join(programs, 'python');
    const install = ['-m', 'pip', 'install', ...options, '--requirement', file];
    await runProgram(python, install, limit);
    await runProgram(python, ['-m', 'pip', 'check'], limit);
    writeFileSync(ready, '');
  }
  return programs;
}

/** Shared with the local stack. */
function cacheFolder(): string {
  return path.resolve(process.env['PIXMESH_CACHE'] || path.join(homedir(), '.cache', 'pixmesh'));
}

function findPython(name: string): string {
  const found = PYTHONS.find((python) => {
    const version = spawnSync(python, ['-c', 'import sys; print(*sys.version_info[:2])'], {
      encoding: 'utf8',
    });
    const [major = 0, minor = 0] = (version.stdout ?? '').split(' ').map(Number);
    return major === PYTHON_VERSION_MIN[0] && minor >= PYTHON_VERSION_MIN[1];
  });
  if (found !== undefined) return found;
  throw new Error(`${name} needs Python ${PYTHON_VERSION_MIN.join('.')} or later`);
}
