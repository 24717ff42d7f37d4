import type { GivenSettings, Problem } from './given-settings.ts';

/** What `PIXMESH_ALLOW_PLAINTEXT` may name: connections that a private network makes acceptable without TLS. */
export const PLAINTEXT_NAMES = ['postgres', 'kafka', 'redis', 'registry', 'traces'] as const;
export type PlaintextName = (typeof PLAINTEXT_NAMES)[number];

/**
 * What the runtime and its libraries read by themselves, so that no schema names it; the rules hold in every process.
 */
export const OF_EVERY_PROCESS = [
  'NODE_TLS_REJECT_UNAUTHORIZED',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
] as const;

export type ProductionRule = {
  /** The settings that it is about; it concerns each service that has one of them. */
  setting: RegExp;
  isSafe(value: string | undefined, given: GivenSettings): boolean;
  expected: string;
  /** The name in `PIXMESH_ALLOW_PLAINTEXT` that lifts it; nothing else does. */
  liftedBy?: PlaintextName;
};

const ABSENT = 'expected to be absent in production';
const OFF = 'expected to be absent or false in production';
const HTTPS = 'expected an https:// URL in production';
const NOT_0 = 'expected to be absent or 1 in production';

/**
 * What a process in production refuses at its start (decisions 259 and 260). They go by the names of settings, so that
 * a service that is added later has them too.
 */
export const PRODUCTION_RULES: readonly ProductionRule[] = [
  {
    setting: /^(WEBHOOK_DEV_RECEIVERS|FAILPOINTS_PORT)$/,
    isSafe: (value) => value === undefined,
    expected: ABSENT,
  },
  { setting: /^ACT_FOR_OTHERS$/, isSafe: (value) => value !== 'true', expected: OFF },
  // The acquirer, other services of the mesh, and where the acquirer calls us. Connections that may be plain have their
  // own.
  { setting: /^(?!SCHEMA_REGISTRY_).*_URL$/, isSafe: (value) => !isHttp(value), expected: HTTPS },
  {
    setting: /^ACQUIRER_TLS_CERT$/,
    isSafe: (value, given) =>
      value !== undefined || given['ACQUIRER_CLIENT_CERTIFICATE'] === 'none',
    expected:
      'expected our certificate in production, or ACQUIRER_CLIENT_CERTIFICATE=none for an acquirer that asks for none',
  },
  {
    setting: /^(ADMIN_|BACKUP_|SUPERUSER_)?DATABASE_URL$/,
    isSafe: hasVerifiedTls,
    expected: 'expected a URL with sslmode=verify-full in production',
    liftedBy: 'postgres',
  },
  {
    setting: /^KAFKA_SECURITY$/,
    isSafe: (value) => value !== 'plaintext',
    expected: 'expected another value than plaintext in production',
    liftedBy: 'kafka',
  },
  // A broker that asks for no login lets in who reaches it, as anybody.
  {
    setting: /^KAFKA_SECURITY$/,
    isSafe: (value, given) => value !== 'tls' || given['KAFKA_SASL_MECHANISM'] !== undefined,
    expected: 'expected KAFKA_SASL_MECHANISM beside tls in production',
  },
  {
    setting: /^SCHEMA_REGISTRY_URL$/,
    isSafe: (value) => !isHttp(value),
    expected: HTTPS,
    liftedBy: 'registry',
  },
  {
    setting: /^REDIS_URL$/,
    isSafe: (value) => value === undefined || URL.parse(value)?.protocol === 'rediss:',
    expected: 'expected a rediss:// URL in production',
    liftedBy: 'redis',
  },
  {
    setting: /^REDIS_URL$/,
    isSafe: (value) => value === undefined || Boolean(URL.parse(value)?.password),
    expected: 'expected a URL with a password in production',
  },
  // With it no client looks at the certificate of any server.
  { setting: /^NODE_TLS_REJECT_UNAUTHORIZED$/, isSafe: (value) => value !== '0', expected: NOT_0 },
  {
    setting: /^OTEL_EXPORTER_OTLP_(TRACES_)?ENDPOINT$/,
    isSafe: (value) => value === undefined || URL.parse(value)?.protocol === 'https:',
    expected: HTTPS,
    liftedBy: 'traces',
  },
];

/** What production refuses of the settings with these names, and what it lets pass because it is allowed. */
export function findUnsafe(
  names: readonly string[],
  given: GivenSettings,
  allowed: readonly PlaintextName[],
): { refused: Problem[]; lifted: Problem[] } {
  const refused: Problem[] = [];
  const lifted: Problem[] = [];
  for (const { setting, isSafe, expected, liftedBy } of PRODUCTION_RULES) {
    const unsafe = names.filter((name) => setting.test(name) && !isSafe(given[name], given));
    const found = liftedBy !== undefined && allowed.includes(liftedBy) ? lifted : refused;
    found.push(...unsafe.map((name) => ({ setting: name, expected })));
  }
  return { refused, lifted };
}

function isHttp(value: string | undefined): boolean {
  return value !== undefined && URL.parse(value)?.protocol === 'http:';
}

/** Of a parameter that stands there twice the driver takes the last one: no other may stand beside it. */
function hasVerifiedTls(value: string | undefined): boolean {
  const modes = URL.parse(value ?? '')?.searchParams.getAll('sslmode') ?? [];
  return modes.length === 1 && modes[0] === 'verify-full';
}
