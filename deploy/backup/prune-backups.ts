import { rmSync } from 'node:fs';

import {
  descriptionPath,
  encryptedPath,
  listBases,
  listWhole,
  manifestPath,
  type StoredBase,
  walFolder,
} from './backup-folder.ts';
import { isSegment, segmentNumber, timelineOf } from './wal-segments.ts';

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
  const spared = sparedBases(bases);
  const isOld = (base: StoredBase) =>
    !spared.includes(base) && Date.parse(base.manifest.ended_at) < limit;
  const old = bases.filter(isOld);
  for (const { folder } of old) {
    // Without its manifest it is none, should this be interrupted.
    rmSync(manifestPath(folder), { force: true });
    rmSync(folder, { recursive: true, force: true });
  }
  const kept = bases.filter((base) => !isOld(base));
  const segments = listWhole(walFolder(home)).filter(
    (name) => kept.length > 0 && isSegment(name) && !kept.some((base) => mayNeed(base, name)),
  );
  for (const name of segments) {
    rmSync(descriptionPath(walFolder(home), name), { force: true });
    rmSync(encryptedPath(walFolder(home), name), { force: true });
  }
  return [...old.map(({ folder }) => folder), ...segments];
}

/** The last ones of the newest timeline. While it has fewer, all: which of the others lead to it is not known here. */
function sparedBases(bases: readonly StoredBase[]): readonly StoredBase[] {
  const newest = bases.at(-1)?.manifest.timeline;
  const ofNewest = bases.filter(({ manifest }) => manifest.timeline === newest);
  return ofNewest.length < BASES_MIN ? bases : ofNewest.slice(-BASES_MIN);
}

/** A base backup is restored with its own timeline and with later ones, never with an earlier one. */
function mayNeed({ manifest }: StoredBase, segment: string): boolean {
  return (
    timelineOf(segment) >= manifest.timeline &&
    segmentNumber(segment) >= segmentNumber(manifest.first_segment)
  );
}
