import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';

import { z } from 'zod';

import { completeCertificates, completeSecrets, renderSecretFiles } from './laptop-secrets.ts';

/**
 * `node deploy/compose/write-secrets.ts <folder>`: makes the secrets of an installation on a laptop once, and
 * writes one folder per container. Safe to repeat; a service that came later gets what it needs, and certificates
 * are made anew before they end.
 */
const FILE_MODE = 0o444;
const FOLDER_MODE = 0o755;
const MASTER_MODE = 0o600;

const Master = z.record(z.string(), z.string());

const folder = process.argv[2];
if (folder === undefined) {
  process.stderr.write('usage: node deploy/compose/write-secrets.ts <folder>\n');
  process.exitCode = 1;
} else {
  await writeSecrets(folder);
}

async function writeSecrets(folder: string): Promise<void> {
  const master = join(folder, 'secrets.json');
  const existing = existsSync(master) ? Master.parse(JSON.parse(readFileSync(master, 'utf8'))) : {};
  const secrets = await completeCertificates(completeSecrets(existing), new Date());
  // First of all, so that no file is ever written from secrets that the next run would not know.
  writeAtomically(master, `${JSON.stringify(secrets, null, 2)}\n`, MASTER_MODE);
  for (const [container, files] of Object.entries(renderSecretFiles(secrets))) {
    for (const [name, content] of Object.entries(files)) {
      const path = join(folder, container, name);
      mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE });
      writeAtomically(path, content, FILE_MODE);
    }
    removeOthers(join(folder, container), Object.keys(files));
  }
}

/** What an earlier version gave this container and this one does not. */
function removeOthers(folder: string, names: readonly string[]): void {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true });
  for (const entry of found.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    if (!names.includes(relative(folder, path))) rmSync(path);
  }
}

function writeAtomically(path: string, content: string, mode: number): void {
  writeFileSync(`${path}.new`, content, { mode });
  renameSync(`${path}.new`, path);
}
