import { CommonConfig, KafkaConfig, milliseconds, port } from '@pixmesh/http/config';
import { TokenKeysConfig } from '@pixmesh/http/service-token';
import { z } from 'zod';

const PEPPER_BYTES = 32;
const SECRET_LENGTH_MIN = 32;
const POOL_SIZE_DEFAULT = 10;

const PEPPER_EXPECTED = 'expected 32 bytes in base64url';
const CALLBACK_SECRET_EXPECTED = 'expected at least 32 characters of A-Z a-z 0-9 - _ . ~';

/** Settings of the gateway. */
export const GatewayConfig = z.object({
  ...CommonConfig,
  ...KafkaConfig,
  ...TokenKeysConfig,
  PUBLIC_PORT: port(),
  ADMIN_PORT: port(),
  CALLBACK_PORT: port(),
  CHARGES_URL: url(),
  PAYOUTS_URL: url(),
  LEDGER_URL: url(),
  DISPATCHER_URL: url(),
  /** Keys the HMAC of API keys; kept outside the database. */
  API_KEY_PEPPER: z
    .string({ error: PEPPER_EXPECTED })
    .transform((text) => Buffer.from(text, 'base64url'))
    .refine((bytes) => bytes.length === PEPPER_BYTES, { error: PEPPER_EXPECTED }),
  ADMIN_BOOTSTRAP_TOKEN: z
    .string({ error: 'expected the bootstrap operator’s token' })
    .min(SECRET_LENGTH_MIN, { error: `expected at least ${SECRET_LENGTH_MIN} characters` }),
  /** Stands unescaped in the URL that is registered at the acquirer, hence the alphabet. */
  CALLBACK_SECRET: z
    .string({ error: CALLBACK_SECRET_EXPECTED })
    .regex(/^[\w.~-]{32,}$/, { error: CALLBACK_SECRET_EXPECTED }),
  /** How long a request to an owner may take in all. */
  REQUEST_TIMEOUT_MS: milliseconds(10_000),
  /** How long a run of reconciliation may take that an operator waits for. */
  RECONCILIATION_TIMEOUT_MS: milliseconds(60_000),
  DATABASE_POOL_SIZE: z.coerce
    .number({ error: 'expected a number of connections' })
    .int()
    .min(1, { error: 'expected at least 1 connection' })
    .default(POOL_SIZE_DEFAULT),
});
export type GatewayConfig = z.output<typeof GatewayConfig>;

function url() {
  return z.url({ protocol: /^https?$/, error: 'expected a URL' });
}
