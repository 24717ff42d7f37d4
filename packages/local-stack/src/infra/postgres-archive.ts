import { chownSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { REPOSITORY_ROOT } from '../repository.ts';
import { StartupFailure } from '../startup-failure.ts';
import { findClosedFolder, type UnprivilegedAccount } from './postgres-account.ts';

const SCRIPT = join(REPOSITORY_ROOT, 'deploy/backup/archive-wal.ts');
/** What is written is in the archive after so long at the latest, however little it is. */
const ARCHIVE_TIMEOUT = '60s';
const OWNER_ONLY = 0o700;

/**
 * Settings by which Postgres archives its WAL into `BACKUP_DIR`, encrypted to `BACKUP_RECIPIENT`; none where these are
 * not given.
 */
export function archiveSettings(
  owner: UnprivilegedAccount | undefined,
  environment = process.env,
): Record<string, string> {
  const given = environment['BACKUP_DIR'];
  const recipient = environment['BACKUP_RECIPIENT'];
  if (!given || !recipient) return {};
  const folder = resolve(REPOSITORY_ROOT, given);
  mkdirSync(join(folder, 'wal'), { recursive: true, mode: OWNER_ONLY });
  if (owner) {
    for (const one of [folder, join(folder, 'wal')]) chownSync(one, owner.uid, owner.gid);
    const closed = [join(folder, '..'), join(SCRIPT, '..'), process.execPath]
      .map(findClosedFolder)
      .find((one) => one !== undefined);
    if (closed !== undefined) {
      throw new StartupFailure(
        `postgres runs as ${owner.name}, who may not enter ${closed}, and cannot archive; open it (chmod o+x) or unset BACKUP_DIR`,
      );
    }
  }
  const words = [process.execPath, SCRIPT, '--to', folder, '--recipient', recipient];
  return {
    archive_mode: 'on',
    archive_timeout: ARCHIVE_TIMEOUT,
    archive_command: [...words.map((word) => `"${word}"`), '"%p"'].join(' '),
  };
}
