import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { closeFolder } from '@pixmesh/local-stack/infra/private-home';
import { generateIdentity, identityToRecipient } from 'age-encryption';

export type BackupSettings = {
  /** Holds everything of it; the drill removes it. */
  folder: string;
  /** Opens what is encrypted to the recipient. */
  identity: string;
  env: { BACKUP_DIR: string; BACKUP_RECIPIENT: string };
};

/** A place for backups and the WAL, and a key that is kept elsewhere. */
export async function prepareBackup(): Promise<BackupSettings> {
  const identity = await generateIdentity();
  const folder = mkdtempSync(path.join(tmpdir(), 'pixmesh-drill-backups-'));
  closeFolder(folder);
  return {
    folder,
    identity,
    env: {
      BACKUP_DIR: path.join(folder, 'backups'),
      BACKUP_RECIPIENT: await identityToRecipient(identity),
    },
  };
}
