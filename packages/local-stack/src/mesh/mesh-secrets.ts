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
import { StartupFailure } from '../startup-failure.ts';
import { writeFileAtomically } from '../write-file-atomically.ts';

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

/** Reads `<home>/secrets.json`, or makes it, with everything that is needed in it. */
export function loadSecrets(home: string, needed: SecretsNeeded): MeshSecrets {
  const path = secretsPath(home);
  const secrets = completeSecrets(existsSync(path) ? readSecrets(path) : undefined, needed);
  saveSecrets(home, secrets);
  return secrets;
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
