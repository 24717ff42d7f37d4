import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const PASSWORD_BYTES = 24;

/** A password of a home, made at its first use. */
export function readOrCreatePassword(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  if (!existsSync(path)) writeFileSync(path, freshPassword(), { mode: 0o600 });
  return readFileSync(path, 'utf8').trim();
}

/** Its characters stand in a URL and in a file of rules as they are. */
export function freshPassword(): string {
  return randomBytes(PASSWORD_BYTES).toString('hex');
}
