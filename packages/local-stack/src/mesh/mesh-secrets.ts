import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type InstallationCertificates,
  makeInstallationCertificates,
  mustRenew,
} from '@pixmesh/certificates/installation-certificates';
import { createInstallationSecrets, createSecret } from '@pixmesh/kernel/fresh-secrets';
import { z } from 'zod';
import { readChangedSecret } from '../secret-files.ts';
import { StartupFailure } from '../startup-failure.ts';
import { writeFileAtomically } from '../write-file-atomically.ts';
import { givenValue } from './given-settings.ts';

const DemoAccount = z.object({
  accountId: z.string(),
  applicationId: z.string(),
  apiKey: z.string(),
});
export type DemoAccount = z.infer<typeof DemoAccount>;

const Certificate = z.object({ cert: z.string(), key: z.string() });

/** Everything secret about one home; made once, so that its data stays readable. */
const MeshSecrets = z.object({
  databasePasswords: z.record(z.string(), z.string()),
  /** Of the role that owns the schemas; homes of earlier versions have none. */
  ownerDatabasePassword: z.string().default(createSecret),
  apiKeyPepper: z.string(),
  adminToken: z.string(),
  callbackSecret: z.string(),
  acquirerClientId: z.string(),
  acquirerClientSecret: z.string(),
  acquirerPixKey: z.string(),
  sealing: z.object({ publicKey: z.string(), privateKeys: z.string() }),
  /** Not made once: they end. */
  certificates: z.object({ ca: z.string(), server: Certificate, client: Certificate }).optional(),
  demo: DemoAccount.optional(),
});
export type MeshSecrets = z.infer<typeof MeshSecrets>;

export interface SecretsNeeded {
  /** Database roles with a password. */
  schemas: readonly string[];
}

/**
 * Secrets that are rotated in the files of a process and that stored data depends on, and where the home keeps
 * them. Others return to the home's own at a boot, on both sides.
 */
const ROTATED: readonly {
  process: string;
  setting: string;
  keep(secrets: MeshSecrets, value: string): void;
}[] = [
  {
    process: 'gateway',
    setting: 'API_KEY_PEPPER',
    keep: (secrets, value) => void (secrets.apiKeyPepper = value),
  },
  {
    process: 'gateway',
    setting: 'CALLBACK_SECRET',
    keep: (secrets, value) => void (secrets.callbackSecret = value),
  },
  {
    process: 'gateway',
    setting: 'ADMIN_BOOTSTRAP_TOKEN',
    keep: (secrets, value) => void (secrets.adminToken = value),
  },
  {
    process: 'webhook-dispatcher',
    setting: 'WEBHOOK_SEALING_PRIVATE_KEYS',
    keep: (secrets, value) => void (secrets.sealing.privateKeys = value),
  },
];

/** Reads `<home>/secrets.json`, or makes it, with everything that is needed in it and what was rotated since. */
export function loadSecrets(home: string, needed: SecretsNeeded): MeshSecrets {
  const path = secretsPath(home);
  const secrets = completeSecrets(existsSync(path) ? readSecrets(path) : undefined, needed);
  keepRotated(home, secrets);
  saveSecrets(home, secrets);
  return secrets;
}

/** What the environment gives was never the home's own, changed or not. */
function keepRotated(home: string, secrets: MeshSecrets): void {
  for (const { process: name, setting, keep } of ROTATED) {
    const changed = readChangedSecret({ home, name }, setting);
    if (changed !== undefined && givenValue(setting) === undefined) keep(secrets, changed);
  }
}

/** Passwords of services that came later are added; nothing that exists is ever changed. */
export function completeSecrets(
  present: MeshSecrets | undefined,
  needed: SecretsNeeded,
): MeshSecrets {
  const secrets = structuredClone(present) ?? createSecrets();
  for (const schema of needed.schemas) secrets.databasePasswords[schema] ??= createSecret();
  return secrets;
}

/** Those of the acquirer that this home runs, and of us as its client; made anew before they end. */
export async function loadCertificates(
  home: string,
  secrets: MeshSecrets,
  now: Date,
): Promise<InstallationCertificates> {
  const kept = secrets.certificates;
  if (kept && !mustRenew(kept, now)) return kept;
  const made = await makeInstallationCertificates({
    serverHosts: ['127.0.0.1', 'localhost'],
    clientName: secrets.acquirerClientId,
    now,
  });
  secrets.certificates = made;
  saveSecrets(home, secrets);
  return made;
}

export function saveSecrets(home: string, secrets: MeshSecrets): void {
  writeFileAtomically(secretsPath(home), `${JSON.stringify(secrets, null, 2)}\n`);
}

function readSecrets(path: string): MeshSecrets {
  try {
    return MeshSecrets.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    throw new StartupFailure(`${path} cannot be read; delete its folder to start from nothing`);
  }
}

function createSecrets(): MeshSecrets {
  return {
    databasePasswords: {},
    ownerDatabasePassword: createSecret(),
    acquirerPixKey: randomUUID(),
    ...createInstallationSecrets(),
  };
}

function secretsPath(home: string): string {
  return join(home, 'secrets.json');
}
