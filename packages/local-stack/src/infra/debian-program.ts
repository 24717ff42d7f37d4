import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { inheritedEnvironment } from '../inherited-environment.ts';
import { StartupFailure } from '../startup-failure.ts';
import { findProgram } from './find-program.ts';
import { cacheFolder } from './install-artifact.ts';

const STEP_LIMIT_MS = 5 * 60_000;

/**
 * `names`: what it may be called on PATH, as its makers and Debian do. `package`: Debian's, which has it in `usr/bin`.
 */
type DebianProgram = { names: readonly string[]; package: string };

/**
 * A program from PATH, or from Debian's package, which is unpacked into the cache and not installed: apt checks it
 * against Debian's signed index. Nothing of it needs to be root.
 * @throws StartupFailure where there is neither
 */
export function provideProgram({ names, package: name }: DebianProgram): string {
  const onPath = names.map(findProgram).find((found) => found !== undefined);
  if (onPath !== undefined) return onPath;
  const folder = join(cacheFolder(), `debian-${name}`);
  if (!existsSync(folder)) unpack(name, folder);
  const unpacked = names.map((one) => join(folder, 'usr/bin', one)).find((one) => existsSync(one));
  if (unpacked !== undefined) return unpacked;
  throw new StartupFailure(`the package ${name} has no ${names.join(' or ')}`);
}

/** By way of a draft, so that the folder is whole where it exists. */
function unpack(name: string, folder: string): void {
  if (!findProgram('apt-get')) {
    throw new StartupFailure(`${name} was not found on PATH (Debian: apt install ${name})`);
  }
  mkdirSync(cacheFolder(), { recursive: true });
  const draft = mkdtempSync(join(cacheFolder(), 'draft-'));
  try {
    mkdirSync(join(draft, 'lists/partial'), { recursive: true });
    mkdirSync(join(draft, 'archives/partial'), { recursive: true });
    const own = [`Dir::State::lists=${draft}/lists`, `Dir::Cache=${draft}`, 'APT::Sandbox::User='];
    const apt = ['-qq', ...own.flatMap((option) => ['-o', option])];
    run('apt-get', [...apt, 'update'], draft);
    run('apt-get', [...apt, 'download', name], draft);
    const archive = readdirSync(draft).find((file) => file.endsWith('.deb')) ?? '';
    run('dpkg-deb', ['--extract', archive, 'unpacked'], draft);
    if (!existsSync(folder)) renameSync(join(draft, 'unpacked'), folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: inheritedEnvironment(),
    timeout: STEP_LIMIT_MS,
  });
  if (status === 0) return;
  throw new StartupFailure(`${command} ${args.at(-1)} failed: ${(stderr ?? '').trim()}`);
}
