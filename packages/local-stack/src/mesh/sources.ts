import { join } from 'node:path';
import { REPOSITORY_ROOT } from '../repository.ts';

/**
 * The checkout that a process runs from: this one, or where the link of its name leads in the folder `PIXMESH_SOURCES`.
 * The link is followed at each start, so a process can be replaced by that of another version.
 */
export function sourcesOf(name: string, environment = process.env): string {
  const links = environment['PIXMESH_SOURCES'];
  return links ? join(links, name) : REPOSITORY_ROOT;
}
