import { readFileSync } from 'node:fs';

import { z } from 'zod';

/** A wrong or missing setting: one line that names the variable and what was expected. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Reads the environment once into a frozen, typed object. `X_FILE` gives the path of a file that holds `X`.
 * @throws ConfigError with one line per wrong variable
 */
export function readConfig<Schema extends z.ZodObject>(
  schema: Schema,
  env: NodeJS.ProcessEnv = process.env,
): Readonly<z.output<Schema>> {
  const result = schema.safeParse(withFiles(Object.keys(schema.shape), env));
  if (result.success) return Object.freeze(result.data);
  const lines = result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new ConfigError(lines.join('\n'));
}

/** Settings that every service has. */
export const CommonConfig = {
  NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  HOST: z.string().default('127.0.0.1'),
  /** Whether other processes may listen on the same ports; the kernel shares connections out among them (ADR 0025). */
  REUSE_PORT: flag(),
  INTERNAL_PORT: port(),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'expected a postgres:// URL' }),
} as const;

/** Settings of a service of the mesh: the folder with `ca.crt`, `tls.crt` and `tls.key` by which others know it. */
export const MeshTlsConfig = {
  MESH_TLS_DIR: z.string({
    error: 'expected the path of a folder with ca.crt, tls.crt and tls.key',
  }),
} as const;

const BROKERS_EXPECTED = 'expected host:port, separated by commas';

/** Settings of every service that speaks Kafka. */
export const KafkaConfig = {
  KAFKA_BROKERS: z
    .string({ error: BROKERS_EXPECTED })
    .regex(/^[^\s,]+:\d+(,[^\s,]+:\d+)*$/, { error: BROKERS_EXPECTED })
    .transform((text) => text.split(',')),
  KAFKA_TOPIC_PREFIX: z.string().default(''),
  SCHEMA_REGISTRY_URL: z.url({ error: 'expected a URL' }),
} as const;

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

/** A duration in milliseconds with its default. */
export function milliseconds(defaultMs: number) {
  return z.coerce
    .number({ error: 'expected a number of milliseconds' })
    .int({ error: 'expected a number of milliseconds' })
    .min(1, { error: 'expected a number of milliseconds above 0' })
    .default(defaultMs);
}

/**
 * The wanted variables only: others' `*_FILE` variables are not ours to open. An empty value counts as unset,
 * as compose files write it; a port would read it as 0 otherwise.
 */
function withFiles(names: readonly string[], env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const wanted: NodeJS.ProcessEnv = {};
  for (const name of names) {
    const path = env[`${name}_FILE`];
    const value = env[name] || undefined;
    if (path && value !== undefined) {
      throw new ConfigError(`${name}: expected either ${name} or ${name}_FILE, not both`);
    }
    const found = path ? readSecretFile(`${name}_FILE`, path) : value;
    if (found !== undefined) wanted[name] = found;
  }
  return wanted;
}

function readSecretFile(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').trimEnd();
  } catch {
    throw new ConfigError(`${name}: expected the path of a readable file`);
  }
}
