import { existsSync, readFileSync } from 'node:fs';
import { StartupFailure } from '../startup-failure.ts';
import { controlFilePath } from '../supervisor/run-files.ts';
import type { ControlFile } from './control-server.ts';

/** Longer than the slowest stop and boot of one process together. */
const RESTART_LIMIT_MS = 120_000;

/** Asks the running supervisor of a home to restart one process; resolves with its new pid. */
export async function requestRestart(home: string, name: string): Promise<number> {
  const { url, token } = readControlFile(home);
  const response = await fetch(`${url}/restart/${encodeURIComponent(name)}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(RESTART_LIMIT_MS),
  });
  const text = await response.text();
  if (!response.ok) throw new StartupFailure(text);
  return Number(text);
}

function readControlFile(home: string): ControlFile {
  const path = controlFilePath(home);
  if (!existsSync(path)) throw new StartupFailure(`no stack is running in ${home}`);
  return JSON.parse(readFileSync(path, 'utf8')) as ControlFile;
}
