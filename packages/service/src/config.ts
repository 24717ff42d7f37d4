import { isCertificate } from '@pixmesh/kernel/pem';
import { z } from 'zod';

import { type Problem, readGiven } from './given-settings.ts';
import { findMissing } from './needed-together.ts';
import { findUnsafe, OF_EVERY_PROCESS, PLAINTEXT_NAMES } from './production-rules.ts';

/** A wrong or missing setting: one line that names the variable and what was expected. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Reads the environment once into a frozen, typed object. `X_FILE` gives the path of a file that holds `X`. Without
 * `NODE_ENV` it is production's, where `production-rules.ts` holds for whatever the schema names.
 * @throws ConfigError with one line per wrong or unsafe variable
 */
export function readConfig<Schema extends z.ZodObject>(
  schema: Schema,
  env: NodeJS.ProcessEnv = process.env,
): Readonly<z.output<Schema>> {
  const { config, refused } = inspectConfig(schema, env);
  if (config === null) throw new ConfigError(refused.join('\n'));
  return config;
}

/** As `readConfig`, but it answers everything at once and throws nothing. Lines hold names, never values. */
export function inspectConfig<Schema extends z.ZodObject>(
  schema: Schema,
  env: NodeJS.ProcessEnv = process.env,
): {
  /** Null where anything is refused. */
  config: Readonly<z.output<Schema>> | null;
  refused: string[];
  /** What production would refuse, did `PIXMESH_ALLOW_PLAINTEXT` not name it. */
  lifted: string[];
} {
  const names = [...Object.keys(schema.shape), ...OF_EVERY_PROCESS];
  const wanted = new Set([...Object.keys(EnvironmentConfig), ...names]);
  const { given, unreadable } = readGiven(wanted, env);
  const environment = z.object(EnvironmentConfig).safeParse(given);
  const parsed = schema.safeParse(given);
  const wrong = firstPerSetting([
    unreadable,
    issuesOf(parsed.error),
    issuesOf(environment.error),
    findMissing(names, given),
  ]);
  const { NODE_ENV, PIXMESH_ALLOW_PLAINTEXT = [] } = environment.data ?? {};
  const isProduction = NODE_ENV === 'production' && !wrong.some(isOfNodeEnv);
  const unsafe = findUnsafe(isProduction ? names : [], given, PIXMESH_ALLOW_PLAINTEXT);
  const problems = firstPerSetting([wrong, unsafe.refused]);
  const config = parsed.success && problems.length === 0 ? Object.freeze(parsed.data) : null;
  return { config, refused: toLines(problems), lifted: toLines(unsafe.lifted) };
}

/** A process that may not run under this `NODE_ENV` has no other line. */
function isOfNodeEnv({ setting }: Problem): boolean {
  return setting === 'NODE_ENV';
}

function toLines(problems: readonly Problem[]): string[] {
  const lines = problems.map(
    ({ setting, variable = setting, expected }) => `${variable}: ${expected}`,
  );
  return [...new Set(lines)];
}

function issuesOf(error: z.ZodError | undefined): Problem[] {
  return (error?.issues ?? []).map(({ path, message }) => ({
    setting: String(path[0]),
    expected: message,
  }));
}

/** Of each setting the problem that was found first: what later steps find of it follows from that. */
function firstPerSetting(steps: readonly (readonly Problem[])[]): Problem[] {
  const found: Problem[] = [];
  for (const step of steps) {
    const known = new Set(found.map(({ setting }) => setting));
    found.push(...step.filter(({ setting }) => !known.has(setting)));
  }
  return found;
}

const PLAINTEXT_EXPECTED = `expected names of ${PLAINTEXT_NAMES.join(', ')}, separated by commas`;

/** What decides on a process as a whole; `readConfig` reads them for every schema. */
export const EnvironmentConfig = {
  /** Production unless it is said otherwise (decision 258). */
  NODE_ENV: z
    .enum(['development', 'test', 'production'], {
      error: 'expected development, test or production',
    })
    .default('production'),
  /** Connections without TLS that production accepts here, since they do not leave a private network. */
  PIXMESH_ALLOW_PLAINTEXT: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum(PLAINTEXT_NAMES, { error: PLAINTEXT_EXPECTED })))
    .optional(),
} as const;

/** Settings that every service has. */
export const CommonConfig = {
  ...EnvironmentConfig,
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  HOST: z.string().default('127.0.0.1'),
  /** Whether other processes may listen on the same ports; the kernel shares connections out among them (ADR 0025). */
  REUSE_PORT: flag(),
  INTERNAL_PORT: port(),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'expected a postgres:// URL' }),
} as const;

/** Settings of a service of the mesh. */
export const MeshTlsConfig = {
  /** The folder with `ca.crt`, `tls.crt` and `tls.key` by which others know it. */
  MESH_TLS_DIR: z.string({
    error: 'expected the path of a folder with ca.crt, tls.crt and tls.key',
  }),
  /** Where tests arm failpoints; absent: nowhere. */
  FAILPOINTS_PORT: port().optional(),
} as const;

const MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER'] as const;
const BROKERS_EXPECTED = 'expected host:port, separated by commas';

/** Settings of every service that speaks Kafka. */
export const KafkaConfig = {
  KAFKA_BROKERS: z
    .string({ error: BROKERS_EXPECTED })
    .regex(/^[^\s,]+:\d+(,[^\s,]+:\d+)*$/, { error: BROKERS_EXPECTED })
    .transform((text) => text.split(',')),
  KAFKA_TOPIC_PREFIX: z.string().default(''),
  /**
   * `mtls`: by the certificate in `MESH_TLS_DIR`. `tls`: the broker alone has one, of an authority in `KAFKA_TLS_CA` or
   * of one that Node knows, and SASL says who we are.
   */
  KAFKA_SECURITY: z
    .enum(['mtls', 'tls', 'plaintext'], { error: 'expected mtls, tls or plaintext' })
    .default('mtls'),
  KAFKA_TLS_CA: z
    .string()
    .refine(isCertificate, { error: 'expected certificates as PEM text' })
    .optional(),
  KAFKA_SASL_MECHANISM: z
    .enum(MECHANISMS, { error: `expected ${MECHANISMS.join(', ')}` })
    .optional(),
  /** With OAUTHBEARER the id and the secret of the client, for which `KAFKA_SASL_TOKEN_URL` issues tokens. */
  KAFKA_SASL_USERNAME: z.string().optional(),
  KAFKA_SASL_PASSWORD: z.string().optional(),
  KAFKA_SASL_TOKEN_URL: z.url({ protocol: /^https?$/, error: 'expected a URL' }).optional(),
  KAFKA_SASL_SCOPE: z.string().optional(),
  SCHEMA_REGISTRY_URL: z.url({ error: 'expected a URL' }),
} as const;

/** Where another service of the mesh is called: by mutual TLS. */
export function meshUrl() {
  return z.url({ protocol: /^https$/, error: 'expected an https:// URL' });
}

/** A TCP port; 0 asks for any free one. */
export function port() {
  return z.coerce
    .number({ error: 'expected a port number' })
    .int({ error: 'expected a port number' })
    .min(0, { error: 'expected a port number' })
    .max(65_535, { error: 'expected a port number' });
}

/** A switch that is off unless it is set. */
function flag() {
  return z
    .enum(['true', 'false'], { error: 'expected true or false' })
    .default('false')
    .transform((text) => text === 'true');
}

/** On outside production, unless it is `false`; production refuses `true` (`production-rules.ts`). */
export function developmentSwitch() {
  return z.enum(['true', 'false'], { error: 'expected true or false' }).optional();
}

/** What a `developmentSwitch` comes to. */
export function isOn(
  value: 'true' | 'false' | undefined,
  { NODE_ENV }: { NODE_ENV: string },
): boolean {
  return NODE_ENV !== 'production' && value !== 'false';
}

/** A duration in milliseconds with its default. */
export function milliseconds(defaultMs: number) {
  return z.coerce
    .number({ error: 'expected a number of milliseconds' })
    .int({ error: 'expected a number of milliseconds' })
    .min(1, { error: 'expected a number of milliseconds above 0' })
    .default(defaultMs);
}
