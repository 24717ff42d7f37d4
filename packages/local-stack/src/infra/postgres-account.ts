import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

export interface UnprivilegedAccount {
  name: string;
  uid: number;
  gid: number;
}

/** Tried in this order; Postgres refuses to run as root, and needs a name in /etc/passwd. */
const ACCOUNTS = ['postgres', 'nobody'];
const EXECUTE_BY_OTHERS = 0o001;

/** The account that Postgres runs as when the stack is started by root; undefined for anybody else. */
export function findUnprivilegedAccount(): UnprivilegedAccount | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const entries = parsePasswd(readFileSync('/etc/passwd', 'utf8'));
  for (const name of ACCOUNTS) {
    const found = entries.find((entry) => entry.name === name && entry.uid !== 0);
    if (found) return found;
  }
  return entries.find((entry) => entry.uid !== 0);
}

/** Lines of `name:password:uid:gid:…`. */
export function parsePasswd(text: string): UnprivilegedAccount[] {
  return text.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    return name && uid && gid ? [{ name, uid: Number(uid), gid: Number(gid) }] : [];
  });
}

/** The first folder on the way to `path` that other users may not enter; undefined when all may. */
export function findClosedFolder(path: string): string | undefined {
  const folders: string[] = [];
  for (let folder = path; ; folder = dirname(folder)) {
    folders.unshift(folder);
    if (folder === dirname(folder)) break;
  }
  return folders.find((folder) => (statSync(folder).mode & EXECUTE_BY_OTHERS) === 0);
}

/** A short stable name for a home, for what has to live outside of it. */
export function homeDigest(home: string): string {
  return createHash('sha256').update(home).digest('hex').slice(0, 12);
}
