import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from './write-file-atomically.ts';

/** Settings whose values stand in no environment: who may list processes can often read that. */
const SECRETS =
  /PASSWORD|SECRET|PEPPER|PRIVATE_KEY|TLS_KEY$|TOKEN$|CLIENT_ID$|^(ADMIN_|SUPERUSER_)?DATABASE_URL$|^REDIS_URL$/;

export interface WithSecretFiles {
  /** `X_FILE` in the place of each secret `X`. */
  env: Record<string, string>;
  /** Writes the files that are missing: one that was changed since the boot has the newer secret. */
  prepare(): Promise<void>;
}

/** Puts the secrets among the settings of a process into files of their own below `<home>/secrets/<name>`. */
export function withSecretFiles(
  { home, name }: { home: string; name: string },
  values: Readonly<Record<string, string>>,
): WithSecretFiles {
  const folder = join(secretsFolder(home), name);
  const all = Object.entries(values);
  const secrets = all.filter(([setting]) => isSecret(setting));
  const paths = secrets.map(([setting]) => [`${setting}_FILE`, join(folder, setting)]);
  return {
    env: Object.fromEntries([...all.filter(([setting]) => !isSecret(setting)), ...paths]),
    prepare: async () => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      for (const [setting, value] of secrets) {
        const path = join(folder, setting);
        if (existsSync(path)) continue;
        writeFileAtomically(writtenPath(path), digestOf(value));
        writeFileAtomically(path, value);
      }
    },
  };
}

/** What a secret was changed to since the stack wrote its file; undefined where it was not. */
export function readChangedSecret(
  { home, name }: { home: string; name: string },
  setting: string,
): string | undefined {
  const path = join(secretsFolder(home), name, setting);
  if (!existsSync(path) || !existsSync(writtenPath(path))) return undefined;
  const text = readFileSync(path, 'utf8').trimEnd();
  return text === '' || digestOf(text) === readFileSync(writtenPath(path), 'utf8')
    ? undefined
    : text;
}

/** Before a boot, which knows all of them anew. */
export function clearSecretFiles(home: string): void {
  rmSync(secretsFolder(home), { recursive: true, force: true });
}

/** Already a path: nothing to hide. */
function isSecret(setting: string): boolean {
  return SECRETS.test(setting) && !setting.endsWith('_FILE');
}

function secretsFolder(home: string): string {
  return join(home, 'secrets');
}

/** Beside each secret: the digest of what the stack wrote, by which a change is known. */
function writtenPath(path: string): string {
  return `${path}.written`;
}

/** A last line feed is no part of a secret. */
function digestOf(text: string): string {
  return createHash('sha256').update(text.trimEnd()).digest('hex');
}
