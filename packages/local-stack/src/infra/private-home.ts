import { chmodSync, mkdirSync } from 'node:fs';

import { findUnprivilegedAccount } from './postgres-account.ts';

/** What this process and its children write is for their owner alone. */
const PRIVATE_UMASK = 0o077;
const PRIVATE = 0o700;
/** Postgres of a stack that root has started runs as another account, which has to pass; it can list nothing. */
const PASSABLE = 0o711;

/** Makes the home, if need be, and keeps whatever is written in it from now on from other people of the machine. */
export function openPrivateHome(home: string): void {
  process.umask(PRIVATE_UMASK);
  closeFolder(home);
}

/** Makes a folder on the way to the data of Postgres, as closed as it can be. */
export function closeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, findUnprivilegedAccount() === undefined ? PRIVATE : PASSABLE);
}
