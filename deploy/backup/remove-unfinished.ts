import { rmSync, statSync, utimesSync } from 'node:fs';

import { listUnfinishedBases, listWalDrafts } from './backup-folder.ts';

/** No archive command runs for so long, and a running base backup marks its folder far more often. */
const UNTOUCHED_MS_MAX = 86_400_000;
const MARK_MS = 60_000;

/** Deletes what killed runs left: base backups without a manifest, and drafts of the WAL. Answers their places. */
export function removeUnfinished(home: string, now: Date): string[] {
  const limit = now.getTime() - UNTOUCHED_MS_MAX;
  // A draft may be gone, because its segment is whole now.
  const touchedAt = (place: string) => statSync(place, { throwIfNoEntry: false })?.mtimeMs;
  const left = [...listUnfinishedBases(home), ...listWalDrafts(home)].filter(
    (place) => (touchedAt(place) ?? limit) < limit,
  );
  for (const place of left) rmSync(place, { recursive: true, force: true });
  return left;
}

/**
 * Marks the folder of a base backup until disposed, so that no other run takes it for one that was killed. A copy that
 * is whole may wait for the server's archive for days, and writes nothing meanwhile.
 */
export function markRunning(folder: string): Disposable {
  const timer = setInterval(() => {
    try {
      utimesSync(folder, new Date(), new Date());
    } catch {
      // A folder that cannot be reached fails the copy itself.
    }
  }, MARK_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
