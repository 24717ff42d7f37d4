import { readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Below the package of the binaries; paths in it are relative to the package. */
const LINKS = join('native', 'pg-symlinks.json');

/**
 * Links the names by which Postgres's programs look for their libraries. Archives of npm hold no links, and the
 * package's own install script, which would make them, does not run.
 */
export function linkLibraries(packageFolder: string): void {
  const links = JSON.parse(readFileSync(join(packageFolder, LINKS), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    try {
      symlinkSync(relative(dirname(target), source), join(packageFolder, target));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
