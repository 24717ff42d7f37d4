import {
  type InstallationCertificates,
  makeInstallationCertificates,
  mustRenew,
} from '@pixmesh/certificates/installation-certificates';
import { createInstallationSecrets, createSecret } from '@pixmesh/kernel/fresh-secrets';

import { schemasToMigrate } from '../schemas-of-services.ts';

const ADMIN_ROLE = 'postgres';
const REGISTRY_ROLE = 'registry';
/**
 * Above the registry's built-in defaults (250), below its environment (300): a file has no say otherwise.
 */
const REGISTRY_CONFIG_ORDINAL = 275;

/** Every secret of one installation by name; key material is JSON or the text form of the environment. */
export type LaptopSecrets = Readonly<Record<string, string>>;

/** Folder (one per container) → file (named as the variable) → content. */
export type SecretFiles = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Adds what is missing and never changes what is there: data that exists was written under these secrets. */
export function completeSecrets(existing: LaptopSecrets): LaptopSecrets {
  return { ...createSecrets(), ...existing };
}

/** Those of the simulated acquirer and of its client, beside the other secrets; made anew before they end. */
export async function completeCertificates(
  existing: LaptopSecrets,
  now: Date,
): Promise<LaptopSecrets> {
  const kept = existing['certificates'];
  if (kept !== undefined && !mustRenew(readCertificates(kept), now)) return existing;
  const made = await makeInstallationCertificates({
    serverHosts: ['acquirer-simulator', 'localhost', '127.0.0.1'],
    clientName: existing['acquirerClientId'] ?? '',
    now,
  });
  return { ...existing, certificates: JSON.stringify(made) };
}

/** What each container gets to read: its own secrets and nobody else's. */
export function renderSecretFiles(secrets: LaptopSecrets): SecretFiles {
  const of = (name: string): string => secrets[name] ?? '';
  const { acquirer, acquirerClient } = renderAcquirer(secrets);
  const database = (schema: string) => ({
    DATABASE_URL: databaseUrl(`pixmesh_${schema}`, of(passwordName(schema))),
  });
  return {
    postgres: {
      POSTGRES_PASSWORD: of('adminDatabasePassword'),
      REGISTRY_DATABASE_PASSWORD: of('registryDatabasePassword'),
    },
    registry: { 'registry.properties': renderRegistryProperties(of('registryDatabasePassword')) },
    deploy: {
      ADMIN_DATABASE_URL: databaseUrl(ADMIN_ROLE, of('adminDatabasePassword')),
      ...Object.fromEntries(
        schemas().map((schema) => [
          `DATABASE_PASSWORD_${schema.toUpperCase()}`,
          of(passwordName(schema)),
        ]),
      ),
    },
    callback: { ...acquirerClient, CALLBACK_SECRET: of('callbackSecret') },
    gateway: {
      ...database('gateway'),
      API_KEY_PEPPER: of('apiKeyPepper'),
      ADMIN_BOOTSTRAP_TOKEN: of('adminBootstrapToken'),
      CALLBACK_SECRET: of('callbackSecret'),
    },
    charges: {
      ...database('charges'),
      ...acquirerClient,
      WEBHOOK_SEALING_PUBLIC_KEY: of('sealingPublicKey'),
    },
    payouts: {
      ...database('payouts'),
      ...acquirerClient,
      WEBHOOK_SEALING_PUBLIC_KEY: of('sealingPublicKey'),
    },
    ledger: database('ledger'),
    'webhook-dispatcher': {
      ...database('webhook_dispatcher'),
      WEBHOOK_SEALING_PUBLIC_KEY: of('sealingPublicKey'),
      WEBHOOK_SEALING_PRIVATE_KEYS: of('sealingPrivateKeys'),
    },
    'acquirer-simulator': { ...database('acquirer_simulator'), ...acquirer },
  };
}

/** What the simulated acquirer and those who call it know: the login is one, each has a key of its own. */
function renderAcquirer(secrets: LaptopSecrets) {
  const { ca, server, client } = readCertificates(secrets['certificates'] ?? '');
  const login = {
    ACQUIRER_CLIENT_ID: secrets['acquirerClientId'] ?? '',
    ACQUIRER_CLIENT_SECRET: secrets['acquirerClientSecret'] ?? '',
  };
  return {
    acquirer: { ...login, TLS_CA: ca, TLS_CERT: server.cert, TLS_KEY: server.key },
    acquirerClient: {
      ...login,
      ACQUIRER_TLS_CA: ca,
      ACQUIRER_TLS_CERT: client.cert,
      ACQUIRER_TLS_KEY: client.key,
    },
  };
}

function createSecrets(): LaptopSecrets {
  const { sealing, adminToken, ...others } = createInstallationSecrets();
  const passwords = [
    'adminDatabasePassword',
    'registryDatabasePassword',
    ...schemas().map(passwordName),
  ];
  return {
    ...others,
    adminBootstrapToken: adminToken,
    sealingPublicKey: sealing.publicKey,
    sealingPrivateKeys: sealing.privateKeys,
    ...Object.fromEntries(passwords.map((name) => [name, createSecret()])),
  };
}

/** Written by `completeCertificates` only. */
function readCertificates(text: string): InstallationCertificates {
  return JSON.parse(text) as InstallationCertificates;
}

/** The registry reads no `X_FILE`, but a file of properties. */
function renderRegistryProperties(password: string): string {
  return [
    `config_ordinal=${REGISTRY_CONFIG_ORDINAL}`,
    `apicurio.datasource.username=${REGISTRY_ROLE}`,
    `apicurio.datasource.password=${password}`,
    '',
  ].join('\n');
}

function databaseUrl(role: string, password: string): string {
  return `postgres://${role}:${password}@postgres:5432/pixmesh`;
}

function schemas(): string[] {
  return schemasToMigrate().map(({ schema }) => schema);
}

function passwordName(schema: string): string {
  return `databasePassword.${schema}`;
}
