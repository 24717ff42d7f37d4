import { renameSync, writeFileSync } from 'node:fs';

/** Readers see the old content or the new one, never a part. The file is private to its owner. */
export function writeFileAtomically(path: string, content: string): void {
  const draft = `${path}.${process.pid}.draft`;
  writeFileSync(draft, content, { mode: 0o600 });
  renameSync(draft, path);
}
