import { existsSync, readFileSync } from 'node:fs';
import { StartupFailure } from '../startup-failure.ts';
import { controlFilePath } from '../supervisor/run-files.ts';
import type { ControlFile } from './control-server.ts';
import { formatScale, type Scale } from './scale.ts';

/** Longer than the slowest stop and boot of several processes. */
const COMMAND_LIMIT_MS = 180_000;

/** Asks the running supervisor of a home to restart one process; resolves with its new pid. */
export async function requestRestart(home: string, name: string): Promise<number | undefined> {
  return (await command(home, `restart/${encodeURIComponent(name)}`))[name];
}

/** Asks the running supervisor of a home to start or stop processes until there are so many. */
export async function requestScale(home: string, scale: Scale): Promise<void> {
  await command(home, `scale/${formatScale(scale)}`);
}

/** Has the running supervisor of a home run the deploy job once more. */
export async function requestDeploy(home: string): Promise<void> {
  await command(home, 'deploy/again');
}

/** @returns the pids of all processes when it is done */
async function command(home: string, path: string): Promise<Record<string, number>> {
  const { url, token } = readControlFile(home);
  const response = await fetch(`${url}/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(COMMAND_LIMIT_MS),
  });
  const text = await response.text();
  if (!response.ok) throw new StartupFailure(text);
  return JSON.parse(text) as Record<string, number>;
}

function readControlFile(home: string): ControlFile {
  const path = controlFilePath(home);
  if (!existsSync(path)) throw new StartupFailure(`no stack is running in ${home}`);
  return JSON.parse(readFileSync(path, 'utf8')) as ControlFile;
}
