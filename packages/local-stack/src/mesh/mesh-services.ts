import type { InfraUrls } from '../infra/boot-infra.ts';
import type { RedisUser } from '@pixmesh/contracts/internal/redis-rights';
import type { MeshSettings } from './mesh-settings.ts';

/** One process of the mesh, as data: a new service is one more entry in the list below. */
export interface MeshService {
  name: string;
  /** Postgres schema; its role is `pixmesh_<schema>`. */
  schema: string;
  /** Variables that carry a port, and the slot each takes it from. */
  ports: Readonly<Record<string, string>>;
  /** One of ours: it has an identity, calls others or is called, and speaks Kafka. */
  isOfMesh: boolean;
  /** Database connections that one process may hold, by its pool size where that is a setting. */
  connections(poolSize?: number): number;
  /** Services of wave 0 are ready before those of wave 1 start. */
  wave: 0 | 1;
  variables(settings: MeshSettings): Record<string, string>;
  /** Settings that are lists: what the shell gives comes first, and the stack's own entries stay behind it. */
  lists?: readonly string[];
}

/** Every period between two status checks is at most this long on one machine, reconciliation apart. */
const LOCAL_PERIOD_MS = '5000';
/** The first status check after an unknown outcome. */
const LOCAL_FIRST_CHECK_MS = '1000';
/** Longer than a command waits for its outcome on a busy machine. */
const LOCAL_RESEND_MS = '20000';
/** What a lost callback would have told is found soon. */
const LOCAL_LIST_MS = '2000';
/**
 * The provider's clock may be turned back by an hour: what it dates then is shown late, and found soon all the same.
 */
const LOCAL_LATE_LIST_MS = '10000';
const LOCAL_LIST_OVERLAP_MS = '7200000';

/** Periods by which owners compare what they own with the acquirer and with each other. */
const RECONCILIATION = {
  RECONCILIATION_MS: '10000',
  RECONCILIATION_FULL_MS: '60000',
  /** How long a difference may last before it counts. */
  RECONCILIATION_WINDOW_MS: LOCAL_PERIOD_MS,
};

/** What every service has in common that is not the acquirer's stand-in. */
const OURS = { isOfMesh: true, wave: 1 } as const;

export const MESH_SERVICES: readonly MeshService[] = [
  {
    name: 'acquirer-simulator',
    schema: 'acquirer_simulator',
    connections: () => 29,
    ports: {
      PORT: 'simulator',
      TLS_PORT: 'simulator-tls',
      RECEIVER_PORT: 'receiver',
      INTERNAL_PORT: 'simulator-internal',
    },
    isOfMesh: false,
    wave: 0,
    variables: ({ certificates, secrets }) => ({
      TLS_CA: certificates.ca,
      TLS_CERT: certificates.server.cert,
      TLS_KEY: certificates.server.key,
      ACQUIRER_CLIENT_ID: secrets.acquirerClientId,
      ACQUIRER_CLIENT_SECRET: secrets.acquirerClientSecret,
      ACQUIRER_PIX_KEY: secrets.acquirerPixKey,
      CALLBACK_RETRY_DELAY_MS_MAX: LOCAL_PERIOD_MS,
    }),
  },
  {
    name: 'ledger',
    schema: 'ledger',
    connections: () => 12,
    ports: {
      PORT: 'ledger',
      INTERNAL_PORT: 'ledger-internal',
      FAILPOINTS_PORT: 'ledger-failpoints',
    },
    ...OURS,
    variables: () => onOneMachine(RECONCILIATION),
  },
  {
    name: 'charges',
    schema: 'charges',
    connections: () => 20,
    ports: {
      PORT: 'charges',
      INTERNAL_PORT: 'charges-internal',
      FAILPOINTS_PORT: 'charges-failpoints',
    },
    ...OURS,
    variables: (settings) => ({
      ...acquirerVariables(settings),
      ACQUIRER_RECEIVER: JSON.stringify(receiverOf(settings.secrets.acquirerPixKey)),
      WEBHOOK_SEALING_PUBLIC_KEY: settings.secrets.sealing.publicKey,
      LEDGER_URL: settings.origin('ledger'),
      DISPATCHER_URL: settings.origin('dispatcher'),
      ...onOneMachine({
        READ_BACK_PROCESSING_MS: LOCAL_FIRST_CHECK_MS,
        READ_BACK_PROCESSING_MS_MAX: LOCAL_PERIOD_MS,
        READ_BACK_PENDING_MS_MAX: LOCAL_PERIOD_MS,
        READ_BACK_REFUND_INTENT_MS: LOCAL_PERIOD_MS,
        READ_BACK_REFUND_INTENT_MS_MAX: LOCAL_PERIOD_MS,
        READ_BACK_REFUND_UNKNOWN_MS: LOCAL_FIRST_CHECK_MS,
        READ_BACK_REFUND_UNKNOWN_MS_MAX: LOCAL_PERIOD_MS,
        READ_BACK_REFUND_ACCEPTED_MS: LOCAL_PERIOD_MS,
        READ_BACK_REFUND_ACCEPTED_MS_MAX: LOCAL_PERIOD_MS,
        REFUSAL_WAIT_MS: LOCAL_PERIOD_MS,
        COMMAND_RESEND_MS: LOCAL_RESEND_MS,
        RECEIVED_LIST_MS: LOCAL_LIST_MS,
        DISPUTE_LIST_MS: LOCAL_LIST_MS,
        DISPUTE_RETURN_WINDOW_MS: LOCAL_PERIOD_MS,
        RECEIVED_LIST_LATE_MS: LOCAL_LATE_LIST_MS,
        RECEIVED_LIST_OVERLAP_MS: LOCAL_LIST_OVERLAP_MS,
        ...RECONCILIATION,
      }),
    }),
  },
  {
    name: 'payouts',
    schema: 'payouts',
    connections: () => 20,
    ports: {
      PORT: 'payouts',
      INTERNAL_PORT: 'payouts-internal',
      FAILPOINTS_PORT: 'payouts-failpoints',
    },
    ...OURS,
    variables: (settings) => ({
      ...acquirerVariables(settings),
      LEDGER_URL: settings.origin('ledger'),
      CHARGES_URL: settings.origin('charges'),
      DISPATCHER_URL: settings.origin('dispatcher'),
      WEBHOOK_SEALING_PUBLIC_KEY: settings.secrets.sealing.publicKey,
      ...onOneMachine({
        READ_BACK_INTENT_MS: LOCAL_PERIOD_MS,
        READ_BACK_INTENT_MS_MAX: LOCAL_PERIOD_MS,
        READ_BACK_UNKNOWN_MS: LOCAL_FIRST_CHECK_MS,
        READ_BACK_UNKNOWN_MS_MAX: LOCAL_PERIOD_MS,
        READ_BACK_ACCEPTED_MS: LOCAL_PERIOD_MS,
        READ_BACK_ACCEPTED_MS_MAX: LOCAL_PERIOD_MS,
        SENT_LIST_MS: LOCAL_LIST_MS,
        SENT_LIST_LATE_MS: LOCAL_LATE_LIST_MS,
        SENT_LIST_OVERLAP_MS: LOCAL_LIST_OVERLAP_MS,
        REFUSAL_WAIT_MS: LOCAL_PERIOD_MS,
        COMMAND_RESEND_MS: LOCAL_RESEND_MS,
        ...RECONCILIATION,
      }),
    }),
  },
  {
    name: 'webhook-dispatcher',
    lists: ['WEBHOOK_DEV_RECEIVERS'],
    schema: 'webhook_dispatcher',
    connections: (poolSize = 16) => 2 * poolSize,
    ports: {
      PORT: 'dispatcher',
      INTERNAL_PORT: 'dispatcher-internal',
      FAILPOINTS_PORT: 'dispatcher-failpoints',
    },
    ...OURS,
    variables: ({ infra, portOf, secrets }) => ({
      ...onOneMachine(RECONCILIATION),
      ROLES: 'api,intake,sender',
      ...redisVariables('webhook-dispatcher', infra),
      WEBHOOK_SEALING_PUBLIC_KEY: secrets.sealing.publicKey,
      WEBHOOK_SEALING_PRIVATE_KEYS: secrets.sealing.privateKeys,
      // The demo has its webhooks sent there, whatever else is mapped.
      WEBHOOK_DEV_RECEIVERS: `*.receiver.example.com=127.0.0.1:${portOf('receiver')}`,
    }),
  },
  {
    name: 'gateway',
    schema: 'gateway',
    connections: (poolSize = 8) => poolSize + 8,
    ports: {
      PUBLIC_PORT: 'gateway',
      ADMIN_PORT: 'admin',
      CALLBACK_PORT: 'callback',
      INTERNAL_PORT: 'gateway-internal',
      FAILPOINTS_PORT: 'gateway-failpoints',
    },
    ...OURS,
    variables: ({ infra, origin, secrets }) => ({
      CHARGES_URL: origin('charges'),
      PAYOUTS_URL: origin('payouts'),
      LEDGER_URL: origin('ledger'),
      DISPATCHER_URL: origin('dispatcher'),
      ...redisVariables('gateway', infra),
      API_KEY_PEPPER: secrets.apiKeyPepper,
      ADMIN_BOOTSTRAP_TOKEN: secrets.adminToken,
      CALLBACK_SECRET: secrets.callbackSecret,
      // Everybody here has one address.
      CONNECTIONS_PER_ADDRESS_MAX: '10000',
      ...onOneMachine(RECONCILIATION),
      SECURITY_CONTACT: 'mailto:security@example.com',
      SECURITY_TXT_URL: `${origin('gateway')}/.well-known/security.txt`,
    }),
  },
];

/** Every port slot that the services of the table listen on. */
export const MESH_SLOTS: readonly string[] = MESH_SERVICES.flatMap((service) =>
  Object.values(service.ports),
);

/** Those on which services are called with certificates of the mesh. */
export const MESH_TLS_SLOTS: ReadonlySet<string> = new Set(
  MESH_SERVICES.filter((service) => service.isOfMesh).flatMap(({ ports }) =>
    [ports['PORT'], ports['FAILPOINTS_PORT']].filter((slot) => slot !== undefined),
  ),
);

/** Periods of one machine; under `PIXMESH_PERIODS=production` the services' own defaults hold. */
function onOneMachine(periods: Readonly<Record<string, string>>): Record<string, string> {
  return process.env['PIXMESH_PERIODS'] === 'production' ? {} : periods;
}

/** Each service has a user of its own, with the commands and keys that it needs. */
function redisVariables(user: RedisUser, { redis }: InfraUrls): Record<string, string> {
  const { caFile, urls } = redis;
  return { REDIS_URL: urls[user], ...(caFile === undefined ? {} : { REDIS_TLS_CA_FILE: caFile }) };
}

/** How the mesh reaches its acquirer; the callback job uses it as well. */
export function acquirerVariables(settings: MeshSettings): Record<string, string> {
  const { certificates, portOf, secrets } = settings;
  return {
    ACQUIRER_URL: `https://127.0.0.1:${portOf('simulator-tls')}`,
    ACQUIRER_TLS_CA: certificates.ca,
    ACQUIRER_TLS_CERT: certificates.client.cert,
    ACQUIRER_TLS_KEY: certificates.client.key,
    ACQUIRER_CLIENT_ID: secrets.acquirerClientId,
    ACQUIRER_CLIENT_SECRET: secrets.acquirerClientSecret,
    ACQUIRER_PIX_KEY: secrets.acquirerPixKey,
  };
}

/** The installation's account at the acquirer, in the specification's words (charge, `receiver`). */
function receiverOf(pixKey: string) {
  return {
    name: 'Pixmesh Demonstracao Ltda',
    document: '11222333000181',
    pix_key: pixKey,
    pix_key_type: 'random',
    institution_name: 'Acquirer Simulator',
    institution_ispb: '00000000',
    branch: '0001',
    account: '1234567',
    account_type: 'payment',
  };
}
