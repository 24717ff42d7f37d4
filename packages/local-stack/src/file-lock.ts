import { DatabaseSync } from 'node:sqlite';

/** SQLITE_BUSY. */
const BUSY = 5;

/**
 * Locks a file until the lock is disposed of, or its process ends, however it ends; undefined while another one has
 * it. Node has no locks of files but SQLite's. The file stays: who waits for one that is removed and who makes it anew
 * would lock two files.
 */
export function tryLockFile(path: string): Disposable | undefined {
  const file = new DatabaseSync(path);
  try {
    file.exec('begin exclusive');
    return file;
  } catch (error) {
    file.close();
    if ((error as { errcode?: number }).errcode === BUSY) return undefined;
    throw error;
  }
}
