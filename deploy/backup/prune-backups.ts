import { rmSync } from 'node:fs';

import {
  descriptionPath,
  encryptedPath,
  listBases,
  listWhole,
  manifestPath,
  walFolder,
} from './backup-folder.ts';
import { isSegment, segmentNumber } from './wal-segments.ts';

const DAY_MS = 86_400_000;
/** Whatever their age: one may turn out broken. */
const BASES_MIN = 2;

/** Deletes base backups that are older, and the WAL that only they need. Answers the folders and segments. */
export function pruneBackups(
  home: string,
  { keepDays, now }: { keepDays: number; now: Date },
): string[] {
  const bases = listBases(home);
  const limit = now.getTime() - keepDays * DAY_MS;
  const old = bases
    .slice(0, -BASES_MIN)
    .filter(({ manifest }) => Date.parse(manifest.ended_at) < limit);
  for (const { folder } of old) {
    // Without its manifest it is none, should this be interrupted.
    rmSync(manifestPath(folder), { force: true });
    rmSync(folder, { recursive: true, force: true });
  }
  const oldest = bases[old.length];
  const needed = oldest && segmentNumber(oldest.manifest.first_segment);
  const segments = listWhole(walFolder(home)).filter(
    (name) => needed !== undefined && isSegment(name) && segmentNumber(name) < needed,
  );
  for (const name of segments) {
    rmSync(descriptionPath(walFolder(home), name), { force: true });
    rmSync(encryptedPath(walFolder(home), name), { force: true });
  }
  return [...old.map(({ folder }) => folder), ...segments];
}
