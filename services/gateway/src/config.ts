import {
  CommonConfig,
  developmentSwitch,
  KafkaConfig,
  MeshTlsConfig,
  meshUrl,
  milliseconds,
  port,
} from '@pixmesh/service/config';
import { RedisConfig } from '@pixmesh/service/redis-connection';
import {
  checkTlsIdentity,
  TLS_FIELDS,
  type TlsIdentity,
  toTlsIdentity,
} from '@pixmesh/service/tls-identity';
import { parsedText } from '@pixmesh/contracts/http/text-field';
import { ADDRESS_LIST_EXPECTED, parseAddressList } from '@pixmesh/kernel/address-list';
import { ReconciliationConfig } from '@pixmesh/reconciliation/reconciliation-config';
import { rotatableSecret } from '@pixmesh/service/rotatable-secret';
import { z } from 'zod';

import { PeppersSetting } from '#authentication/peppers.ts';
import type { Edge } from '#edge/guard-listener.ts';
import { parseOrigins } from '#edge/other-origins.ts';

const SECRET_LENGTH_MIN = 32;
const POOL_SIZE_DEFAULT = 8;
const REQUEST_LOG_DAYS_DEFAULT = 90;
/** The database enforces it too. */
const REQUEST_LOG_DAYS_MIN = 7;
const RATE_WINDOW_SECONDS_DEFAULT = 60;
const DAY_SECONDS = 24 * 60 * 60;

const CALLBACK_SECRET_EXPECTED = 'expected at least 32 characters of A-Z a-z 0-9 - _ . ~';

const ORIGINS_EXPECTED = 'expected origins such as https://app.example.com, separated by commas';
/**
 * One merchant may have 1,000 requests in flight (decision 272), from one address and over HTTP/1.1, and needs room
 * beside.
 */
const CONNECTIONS_PER_ADDRESS_DEFAULT = 1_500;

const Settings = z.object({
  ...CommonConfig,
  ...MeshTlsConfig,
  ...KafkaConfig,
  ...ReconciliationConfig,
  PUBLIC_PORT: port(),
  ADMIN_PORT: port(),
  CALLBACK_PORT: port(),
  CHARGES_URL: meshUrl(),
  PAYOUTS_URL: meshUrl(),
  LEDGER_URL: meshUrl(),
  DISPATCHER_URL: meshUrl(),
  API_KEY_PEPPER: PeppersSetting,
  /** Absent: there is no bootstrap operator. */
  ADMIN_BOOTSTRAP_TOKEN: z
    .string()
    .min(SECRET_LENGTH_MIN, { error: `expected at least ${SECRET_LENGTH_MIN} characters` })
    .optional(),
  /** Whether the bootstrap operator may speak for others, by `X-Operator`. */
  ACT_FOR_OTHERS: developmentSwitch(),
  /** Stands unescaped in the URL that is registered at the acquirer, hence the alphabet. */
  CALLBACK_SECRET: rotatableSecret(
    (text) => (/^[\w.~-]{32,}$/.test(text) ? text : null),
    CALLBACK_SECRET_EXPECTED,
  ),
  /** Who signed the acquirer's certificate, the callback listener's own one and its key. */
  CALLBACK_TLS_CA: TLS_FIELDS.ca,
  CALLBACK_TLS_CERT: TLS_FIELDS.cert,
  CALLBACK_TLS_KEY: TLS_FIELDS.key,
  /** How long a request to an owner may take in all. */
  REQUEST_TIMEOUT_MS: milliseconds(10_000),
  /** How long a run of reconciliation may take that an operator waits for. */
  RECONCILIATION_TIMEOUT_MS: milliseconds(60_000),
  DATABASE_POOL_SIZE: z.coerce
    .number({ error: 'expected a number of connections' })
    .int()
    .min(1, { error: 'expected at least 1 connection' })
    .default(POOL_SIZE_DEFAULT),
  /** How long requests are found in the log, at least; they go a week at a time. */
  REQUEST_LOG_RETENTION_DAYS: atLeast(REQUEST_LOG_DAYS_MIN, 'days').default(
    REQUEST_LOG_DAYS_DEFAULT,
  ),
  /**
   * Requests of one key in one window, unless it has a limit of its own. Absent: no limit (specification, Limits;
   * decision 24).
   */
  RATE_LIMIT_PER_KEY: atLeast(1, 'requests').optional(),
  RATE_LIMIT_WINDOW_SECONDS: atLeast(1, 'seconds')
    .max(DAY_SECONDS, { error: `expected at most ${DAY_SECONDS} seconds` })
    .default(RATE_WINDOW_SECONDS_DEFAULT),
  /** How long a request may wait for its count before this gateway's own decides. */
  RATE_LIMIT_TIMEOUT_MS: milliseconds(50),
  /** Where gateways count together what is limited; absent: each counts by itself. */
  ...RedisConfig,
  /** Proxies before the listeners, whose `X-Forwarded-For` names the client. */
  TRUSTED_PROXIES: parsedText(parseAddressList, ADDRESS_LIST_EXPECTED).prefault(''),
  /** Connections of one client address to one listener; a trusted proxy has no such bound. */
  CONNECTIONS_PER_ADDRESS_MAX: atLeast(1, 'connections').default(CONNECTIONS_PER_ADDRESS_DEFAULT),
  /** For how long browsers are asked to come by HTTPS alone; absent: they are not asked. */
  HSTS_MAX_AGE_SECONDS: atLeast(1, 'seconds').optional(),
  /** Whose pages may read `/v1` in a browser; absent: none may. */
  CORS_ALLOWED_ORIGINS: parsedText(parseOrigins, ORIGINS_EXPECTED).prefault(''),
  /** Where researchers report what they found; absent: no `security.txt`. */
  SECURITY_CONTACT: z
    .url({ protocol: /^(mailto|https)$/, error: 'expected a mailto: or https: URL' })
    .optional(),
  SECURITY_TXT_URL: z.url({ protocol: /^https?$/, error: 'expected a URL' }).optional(),
  SECURITY_TXT_EXPIRES: z.iso
    .datetime({ offset: true, error: 'expected a date and time with offset' })
    .transform((text) => new Date(text))
    .optional(),
});

/** Settings of the gateway. */
export const GatewayConfig = Settings.refine(
  (config) => config.RATE_LIMIT_PER_KEY === undefined || config.REDIS_URL !== undefined,
  { path: ['REDIS_URL'], error: 'expected a redis:// URL, since RATE_LIMIT_PER_KEY is set' },
).superRefine((config, context) => checkTlsIdentity(tlsOf(config), 'CALLBACK_TLS', context));
export type GatewayConfig = z.output<typeof GatewayConfig>;

/** What holds on all listeners. */
export function edgeOf(config: GatewayConfig): Edge {
  return {
    isTrusted: config.TRUSTED_PROXIES,
    connectionsPerAddressMax: config.CONNECTIONS_PER_ADDRESS_MAX,
    hstsMaxAgeSeconds: config.HSTS_MAX_AGE_SECONDS ?? null,
    origins: config.CORS_ALLOWED_ORIGINS,
  };
}

/** Where callbacks are served to callers with a certificate alone; null where to anyone. */
export function callbackTls(config: GatewayConfig): TlsIdentity | null {
  return toTlsIdentity(tlsOf(config));
}

function tlsOf(settings: z.output<typeof Settings>) {
  const { CALLBACK_TLS_CA: ca, CALLBACK_TLS_CERT: cert, CALLBACK_TLS_KEY: key } = settings;
  return { ca, cert, key };
}

function atLeast(min: number, unit: string) {
  return z.coerce
    .number({ error: `expected a number of ${unit}` })
    .int({ error: `expected a number of ${unit}` })
    .min(min, { error: `expected at least ${min} ${unit}` });
}
