import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * `node deploy/images/drop-development.ts`, while images are built: takes the development packages of all workspaces
 * out of manifests and lockfile. What `turbo prune --production` leaves out is still named there, and npm would look
 * for it.
 */
type Manifest = { devDependencies?: Record<string, string> };
type Lockfile = { packages: Record<string, Manifest> };

const LOCKFILE = 'package-lock.json';

const lockfile = read<Lockfile>(LOCKFILE);
for (const [folder, entry] of Object.entries(lockfile.packages)) {
  if (folder.includes('node_modules/')) continue;
  delete entry.devDependencies;
  const file = path.join(folder, 'package.json');
  const { devDependencies: _, ...manifest } = read<Manifest>(file);
  write(file, manifest);
}
write(LOCKFILE, lockfile);

function read<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}

function write(file: string, content: object): void {
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
}
