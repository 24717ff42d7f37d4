import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Files of the repository by glob, relative to its root; nothing that was installed or made by a run. */
export function listFiles(pattern: string): string[] {
  return globSync(pattern, {
    cwd: ROOT,
    exclude: ['**/node_modules/**', '**/.pixmesh*/**'],
  }).filter((file) => path.extname(file) !== '' || file.startsWith('.ci/'));
}

export function readRepositoryFile(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}
