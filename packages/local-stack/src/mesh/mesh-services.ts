import type { MeshSettings } from './mesh-settings.ts';

/** One process of the mesh, as data: a new service is one more entry in the list below. */
export interface MeshService {
  name: string;
  /** Postgres schema; its role is `pixmesh_<schema>`. */
  schema: string;
  /** Variables that carry a port, and the slot each takes it from. */
  ports: Readonly<Record<string, string>>;
  /** Signs and checks internal calls. */
  signsTokens: boolean;
  speaksKafka: boolean;
  /** Services of wave 0 are ready before those of wave 1 start. */
  wave: 0 | 1;
  variables(settings: MeshSettings): Record<string, string>;
}

/** All periods of looking again are at most this long on one machine. */
const LOCAL_PERIOD_MS = '5000';

export const MESH_SERVICES: readonly MeshService[] = [
  {
    name: 'acquirer-simulator',
    schema: 'acquirer_simulator',
    ports: {
      PORT: 'simulator',
      RECEIVER_PORT: 'receiver',
      INTERNAL_PORT: 'simulator-internal',
    },
    signsTokens: false,
    speaksKafka: false,
    wave: 0,
    variables: ({ secrets }) => ({
      ACQUIRER_CLIENT_ID: secrets.acquirerClientId,
      ACQUIRER_CLIENT_SECRET: secrets.acquirerClientSecret,
      ACQUIRER_PIX_KEY: secrets.acquirerPixKey,
      CALLBACK_RETRY_DELAY_MS_MAX: LOCAL_PERIOD_MS,
    }),
  },
  {
    name: 'ledger',
    schema: 'ledger',
    ports: { PORT: 'ledger', INTERNAL_PORT: 'ledger-internal' },
    signsTokens: true,
    speaksKafka: true,
    wave: 1,
    variables: () => ({}),
  },
  {
    name: 'charges',
    schema: 'charges',
    ports: { PORT: 'charges', INTERNAL_PORT: 'charges-internal' },
    signsTokens: true,
    speaksKafka: true,
    wave: 1,
    variables: (settings) => ({
      ...acquirerVariables(settings),
      ACQUIRER_RECEIVER: JSON.stringify(receiverOf(settings.secrets.acquirerPixKey)),
      WEBHOOK_SEALING_PUBLIC_KEY: settings.secrets.sealing.publicKey,
      READ_BACK_PROCESSING_MS: '1000',
      READ_BACK_PROCESSING_MS_MAX: LOCAL_PERIOD_MS,
      READ_BACK_PENDING_MS_MAX: process.env['READ_BACK_PENDING_MS_MAX'] ?? LOCAL_PERIOD_MS,
    }),
  },
  {
    name: 'webhook-dispatcher',
    schema: 'webhook_dispatcher',
    ports: { PORT: 'dispatcher', INTERNAL_PORT: 'dispatcher-internal' },
    signsTokens: true,
    speaksKafka: true,
    wave: 1,
    variables: ({ infra, portOf, secrets }) => ({
      ROLES: 'api,intake,sender',
      REDIS_URL: infra.redisUrl,
      WEBHOOK_SEALING_PUBLIC_KEY: secrets.sealing.publicKey,
      WEBHOOK_SEALING_PRIVATE_KEYS: secrets.sealing.privateKeys,
      WEBHOOK_DEV_RECEIVERS: `*.receiver.example.com=127.0.0.1:${portOf('receiver')}`,
    }),
  },
  {
    name: 'gateway',
    schema: 'gateway',
    ports: {
      PUBLIC_PORT: 'gateway',
      ADMIN_PORT: 'admin',
      CALLBACK_PORT: 'callback',
      INTERNAL_PORT: 'gateway-internal',
    },
    signsTokens: true,
    speaksKafka: true,
    wave: 1,
    variables: ({ infra, origin, secrets }) => ({
      CHARGES_URL: origin('charges'),
      LEDGER_URL: origin('ledger'),
      DISPATCHER_URL: origin('dispatcher'),
      REDIS_URL: infra.redisUrl,
      API_KEY_PEPPER: secrets.apiKeyPepper,
      ADMIN_BOOTSTRAP_TOKEN: secrets.adminToken,
      CALLBACK_SECRET: secrets.callbackSecret,
    }),
  },
];

/** Every port slot that the services of the table listen on. */
export const MESH_SLOTS: readonly string[] = MESH_SERVICES.flatMap((service) =>
  Object.values(service.ports),
);

/** How the mesh reaches its acquirer; the callback job uses it as well. */
export function acquirerVariables({ origin, secrets }: MeshSettings): Record<string, string> {
  return {
    ACQUIRER_URL: origin('simulator'),
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
