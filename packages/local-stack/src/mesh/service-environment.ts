import { KafkaConfig } from '@pixmesh/service/config';
import { IdentityName } from '@pixmesh/contracts/internal/identities';
import { OWNER_ROLE } from '@pixmesh/postgres/owner-role';
import { identityFolder } from '../infra/identities.ts';
import { withUser } from '../infra/postgres-databases.ts';
import { DECIDED_BY_THE_STACK, preferGiven } from './given-settings.ts';
import type { MeshService } from './mesh-services.ts';
import type { MeshSettings } from './mesh-settings.ts';

/**
 * The variables of one service: common ones, its ports, and its own. Whatever else its schema names comes from the
 * environment of the start, which wins.
 */
export function renderServiceEnvironment(
  service: MeshService,
  settings: MeshSettings,
): Record<string, string> {
  const ports = Object.entries(service.ports).map(([variable, slot]) => [
    variable,
    String(settings.portOf(slot)),
  ]);
  const own: Record<string, string> = {
    NODE_ENV: 'development',
    // One search for an `X-Request-Id` shows its whole way; in production the spans do.
    LOG_LEVEL: 'debug',
    SERVICE_NAME: service.name,
    HOST: '127.0.0.1',
    // The stack has made sure that the ports are free, and further processes may come at any time.
    REUSE_PORT: String(service.wave === 1),
    DATABASE_URL: databaseUrlOf(service.schema, settings),
    ...Object.fromEntries(ports),
    ...(service.isOfMesh ? meshVariables(service.name, settings) : {}),
    ...(settings.otlpEndpoint ? { OTEL_EXPORTER_OTLP_ENDPOINT: settings.otlpEndpoint } : {}),
    ...service.variables(settings),
  };
  const names = settings.settingNames.get(service.name) ?? [];
  const decided = new Set([...DECIDED_BY_THE_STACK, ...Object.keys(service.ports)]);
  const chosen = preferGiven(
    own,
    names.filter((name) => !decided.has(name)),
  );
  return { ...chosen, ...joinedLists(service, own, chosen) };
}

function joinedLists(
  { lists = [] }: MeshService,
  own: Readonly<Record<string, string>>,
  chosen: Readonly<Record<string, string>>,
): Record<string, string> {
  const given = lists.filter((name) => chosen[name] !== undefined && chosen[name] !== own[name]);
  return Object.fromEntries(given.map((name) => [name, `${chosen[name]},${own[name]}`]));
}

/** Where a service answers the supervisor: health, metrics. */
export function internalOriginOf(service: MeshService, settings: MeshSettings): string {
  const slot = service.ports['INTERNAL_PORT'];
  if (!slot) throw new Error(`${service.name} has no INTERNAL_PORT`);
  return settings.origin(slot);
}

/** Where failpoints of a service are armed, for the identity of tools; null where it has none. */
export function failpointsOriginOf(service: MeshService, settings: MeshSettings): string | null {
  const slot = service.ports['FAILPOINTS_PORT'];
  return slot === undefined ? null : settings.origin(slot);
}

/** Each service's own role; none can read another's schema. */
function databaseUrlOf(schema: string, { infra, secrets }: MeshSettings): string {
  const password = secrets.databasePasswords[schema] ?? '';
  return withUser(infra.postgresServiceUrl, { role: `pixmesh_${schema}`, password });
}

/** Of the job that prepares database, topics and schemas; services must find the topics under the same names. */
const DEPLOY_SETTINGS = [
  'KAFKA_ACLS',
  ...Object.keys(KafkaConfig).filter((name) => name !== 'KAFKA_BROKERS'),
  'KAFKA_REPLICATION_FACTOR',
  'KAFKA_MIN_INSYNC_REPLICAS',
];

/** What the job that prepares database, topics and schemas needs. */
export function renderDeployEnvironment(settings: MeshSettings): Record<string, string> {
  const { infra, secrets } = settings;
  const passwords = Object.entries(secrets.databasePasswords).map(([schema, password]) => [
    `DATABASE_PASSWORD_${schema.toUpperCase()}`,
    password,
  ]);
  const own = {
    // On a laptop, where people read topics too.
    NODE_ENV: 'development',
    ADMIN_DATABASE_URL: withUser(infra.postgresServiceUrl, {
      role: OWNER_ROLE,
      password: secrets.ownerDatabasePassword,
    }),
    KAFKA_REPLICATION_FACTOR: '1',
    MESH_TLS_DIR: identityFolderOf('deploy', settings),
    ...kafkaVariables(settings),
    ...Object.fromEntries(passwords),
  };
  return preferGiven(own, DEPLOY_SETTINGS);
}

function identityFolderOf(name: string, { home }: MeshSettings): string {
  return identityFolder(home, IdentityName.parse(name));
}

function meshVariables(name: string, settings: MeshSettings): Record<string, string> {
  return { ...kafkaVariables(settings), MESH_TLS_DIR: identityFolderOf(name, settings) };
}

function kafkaVariables({ infra }: MeshSettings): Record<string, string> {
  return {
    KAFKA_BROKERS: infra.kafkaBrokers.join(','),
    SCHEMA_REGISTRY_URL: infra.registryUrl,
  };
}
