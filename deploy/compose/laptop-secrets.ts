import {
  type InstallationCertificates,
  makeInstallationCertificates,
  mustRenew,
} from '@pixmesh/certificates/installation-certificates';
import type { IdentityName } from '@pixmesh/contracts/internal/identities';
import {
  REDIS_USERS,
  type RedisUser,
  renderRedisUsers,
} from '@pixmesh/contracts/internal/redis-rights';
import { createInstallationSecrets, createSecret } from '@pixmesh/kernel/fresh-secrets';
import { OWNER_ROLE } from '@pixmesh/postgres/owner-role';

import { schemasToMigrate } from '../schemas-of-services.ts';
import { authorityFile, completeIdentities, identityFiles, keyStore } from './mesh-identities.ts';

const SUPERUSER_ROLE = 'postgres';
/** Where each container finds the authority of the mesh. */
const AUTHORITY_PATH = '/run/secrets/identity/ca.crt';
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

/** Of every process of the mesh, and of the simulated acquirer and its client; made anew before they end. */
export async function completeCertificates(
  existing: LaptopSecrets,
  now: Date,
): Promise<LaptopSecrets> {
  const completed = await completeIdentities(existing, now);
  const kept = existing['certificates'];
  if (kept !== undefined && !mustRenew(readCertificates(kept), now)) return completed;
  const made = await makeInstallationCertificates({
    serverHosts: ['acquirer-simulator', 'localhost', '127.0.0.1'],
    clientName: existing['acquirerClientId'] ?? '',
    now,
  });
  return { ...completed, certificates: JSON.stringify(made) };
}

/** What each container gets to read: its own secrets and nobody else's. */
export function renderSecretFiles(secrets: LaptopSecrets): SecretFiles {
  const of = (name: string): string => secrets[name] ?? '';
  const { acquirer, acquirerClient } = renderAcquirer(secrets);
  const database = (schema: string) => ({
    ...authorityFile(secrets),
    DATABASE_URL: databaseUrl(`pixmesh_${schema}`, of(passwordName(schema))),
  });
  const identity = (name: IdentityName) => identityFiles(secrets, name);
  const redis = (user: RedisUser) => ({
    REDIS_URL: `rediss://${user}:${of(redisPasswordName(user))}@redis:6379`,
  });
  const dispatcher = {
    ...database('webhook_dispatcher'),
    ...identity('webhook-dispatcher'),
    ...redis('webhook-dispatcher'),
  };
  return {
    ...renderInfra(secrets),
    demo: { ADMIN_BOOTSTRAP_TOKEN: of('adminBootstrapToken') },
    callback: { ...acquirerClient, CALLBACK_SECRET: of('callbackSecret') },
    gateway: {
      ...database('gateway'),
      ...identity('gateway'),
      ...redis('gateway'),
      API_KEY_PEPPER: of('apiKeyPepper'),
      ADMIN_BOOTSTRAP_TOKEN: of('adminBootstrapToken'),
      CALLBACK_SECRET: of('callbackSecret'),
    },
    charges: {
      ...database('charges'),
      ...identity('charges'),
      ...acquirerClient,
      WEBHOOK_SEALING_PUBLIC_KEY: of('sealingPublicKey'),
    },
    payouts: {
      ...database('payouts'),
      ...identity('payouts'),
      ...acquirerClient,
      WEBHOOK_SEALING_PUBLIC_KEY: of('sealingPublicKey'),
    },
    ledger: { ...database('ledger'), ...identity('ledger') },
    'webhook-dispatcher': {
      ...dispatcher,
      WEBHOOK_SEALING_PUBLIC_KEY: of('sealingPublicKey'),
    },
    'webhook-dispatcher-sender': {
      ...dispatcher,
      WEBHOOK_SEALING_PRIVATE_KEYS: of('sealingPrivateKeys'),
    },
    'acquirer-simulator': { ...database('acquirer_simulator'), ...acquirer },
  };
}

/** Of what the services stand on, and of the jobs that prepare it. */
function renderInfra(secrets: LaptopSecrets): SecretFiles {
  const of = (name: string): string => secrets[name] ?? '';
  return {
    postgres: {
      ...identityFiles(secrets, 'postgres'),
      POSTGRES_PASSWORD: of('adminDatabasePassword'),
      REGISTRY_DATABASE_PASSWORD: of('registryDatabasePassword'),
    },
    kafka: { ...identityFiles(secrets, 'kafka'), ...keyStore(secrets) },
    redis: {
      ...identityFiles(secrets, 'redis'),
      'users.acl': renderRedisUsers(redisPasswords(of)),
    },
    registry: {
      ...authorityFile(secrets),
      'registry.properties': renderRegistryProperties(of('registryDatabasePassword')),
    },
    owner: {
      ...authorityFile(secrets),
      SUPERUSER_DATABASE_URL: databaseUrl(SUPERUSER_ROLE, of('adminDatabasePassword')),
      DATABASE_PASSWORD_OWNER: of('ownerDatabasePassword'),
    },
    deploy: {
      ...identityFiles(secrets, 'deploy'),
      ADMIN_DATABASE_URL: databaseUrl(OWNER_ROLE, of('ownerDatabasePassword')),
      ...Object.fromEntries(
        schemas().map((schema) => [
          `DATABASE_PASSWORD_${schema.toUpperCase()}`,
          of(passwordName(schema)),
        ]),
      ),
    },
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
    'ownerDatabasePassword',
    'registryDatabasePassword',
    ...schemas().map(passwordName),
    ...REDIS_USERS.map(redisPasswordName),
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
  const server = 'postgres:5432/pixmesh';
  return `postgres://${role}:${password}@${server}?sslmode=verify-full&sslrootcert=${AUTHORITY_PATH}`;
}

function schemas(): string[] {
  return schemasToMigrate().map(({ schema }) => schema);
}

function redisPasswords(of: (name: string) => string): Record<RedisUser, string> {
  const passwords = Object.fromEntries(
    REDIS_USERS.map((user) => [user, of(redisPasswordName(user))]),
  );
  return passwords as Record<RedisUser, string>;
}

function redisPasswordName(user: RedisUser): string {
  return `redisPassword.${user}`;
}

function passwordName(schema: string): string {
  return `databasePassword.${schema}`;
}
