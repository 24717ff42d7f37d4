import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root of the repository: working directory of every service, so that packages resolve from it. */
export const REPOSITORY_ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** `PIXMESH_HOME`, by default `.pixmesh` at the root. */
export function readHome(environment = process.env): string {
  return resolve(REPOSITORY_ROOT, environment['PIXMESH_HOME'] || '.pixmesh');
}
