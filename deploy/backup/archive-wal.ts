import { createReadStream, mkdirSync, statSync, existsSync } from 'node:fs';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';

import {
  descriptionPath,
  encryptedPath,
  readDescription,
  WalDescription,
  walFolder,
} from './backup-folder.ts';
import { writeDurably, writeEncrypted } from './encrypted-file.ts';
import { isArchiveName } from './wal-segments.ts';

/**
 * `archive_command = 'node deploy/backup/archive-wal.ts --to DIR --recipient age1… "%p"'`: stores one segment,
 * encrypted, whole and on the disk, before Postgres may recycle it. Exit code 0 also where the same segment is there
 * already; anything else in its place is never written over.
 */
const { values, positionals } = parseArgs({
  options: { to: { type: 'string' }, recipient: { type: 'string' } },
  allowPositionals: true,
});
try {
  await archive(positionals[0] ?? '', values.to ?? '', values.recipient ?? '');
} catch (error) {
  process.stderr.write(`archive-wal: ${(error as Error).message}\n`);
  process.exitCode = 1;
}

async function archive(file: string, home: string, recipient: string): Promise<void> {
  const name = path.basename(file);
  if (!isArchiveName(name)) throw new Error(`${name}: expected a file of the WAL`);
  const folder = walFolder(home);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (existsSync(descriptionPath(folder, name))) {
    const known = readDescription(folder, name, WalDescription);
    if (known.plain_sha256 === (await digestOf(file))) return;
    throw new Error(`${name}: another one of this name is archived, and stays`);
  }
  const written_at = statSync(file).mtime.toISOString();
  // One without its description was interrupted, and counts as not there.
  const digests = await writeEncrypted(encryptedPath(folder, name), createReadStream(file), {
    recipient,
    isReplaced: true,
  });
  const description = { ...digests, written_at, archived_at: new Date().toISOString() };
  await writeDurably(descriptionPath(folder, name), `${JSON.stringify(description)}\n`);
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
