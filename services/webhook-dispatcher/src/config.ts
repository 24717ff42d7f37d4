import { ReconciliationConfig } from '@pixmesh/reconciliation/reconciliation-config';
import {
  CommonConfig,
  KafkaConfig,
  MeshTlsConfig,
  milliseconds,
  port,
} from '@pixmesh/service/config';
import { RedisConfig } from '@pixmesh/service/redis-connection';
import { parsedText } from '@pixmesh/contracts/http/text-field';
import { ADDRESS_LIST_EXPECTED, parseAddressList } from '@pixmesh/kernel/address-list';
import { isSealingPrivateKeys, isSealingPublicKey } from '@pixmesh/kernel/sealed-secret-keys';
import { z } from 'zod';

import { parseDevReceivers } from '#exchange/dev-receivers.ts';
import { DELIVERY_TIMEOUT_MS, LEASE_MARGIN_MS, LEASE_MARGIN_MS_MIN } from '#lanes/lease.ts';

/** What a process may do of the service's work. */
export const ROLES = ['api', 'intake', 'sender'] as const;
const Role = z.enum(ROLES);

/** Sends in flight per process, each until its outcome is stored; one account has four fifths of them at most. */
const IN_FLIGHT_MAX = 640;
/** Requests out per lane, over all processes. */
const IN_FLIGHT_PER_LANE_MAX = 10;
/** Turns run beside attempts being recorded and intake; no connection is held while a request is out. */
const POOL_SIZE = 16;
/** A rolling start must give every sender the newest key before the first text is sealed to it. */
const RESEALING_DELAY_MS = 600_000;

const KEEP_DAYS = 90;
/** Events of an inactive endpoint are re-sendable for 30 days; the database enforces it too. */
const KEEP_DAYS_MIN = 30;

const Settings = z.object({
  ...CommonConfig,
  ...MeshTlsConfig,
  ...KafkaConfig,
  ...ReconciliationConfig,
  ROLES: z
    .string()
    .default('api,intake,sender')
    .transform((text) => text.split(','))
    .pipe(z.array(Role, { error: 'expected api, intake or sender, separated by commas' }).min(1)),
  /** Of the api role. */
  PORT: port().optional(),
  DATABASE_POOL_SIZE: z.coerce.number().int().min(2).default(POOL_SIZE),
  /** Hints only: without it, polling finds what is due. */
  ...RedisConfig,
  /** Of the api role: what arrives is sealed at once, and nothing there can open it again. */
  WEBHOOK_SEALING_PUBLIC_KEY: z
    .string()
    .refine(isSealingPublicKey, { error: 'expected <version>:<key>' })
    .optional(),
  /** Of the sender role: the only place where secrets are readable. */
  WEBHOOK_SEALING_PRIVATE_KEYS: z
    .string()
    .refine(isSealingPrivateKeys, { error: 'expected JSON of key versions and private keys' })
    .optional(),
  WEBHOOK_DEV_RECEIVERS: parsedText(
    parseDevReceivers,
    'expected name=host:port, separated by commas',
  ).prefault(''),
  /** The installation's own public addresses and networks: no delivery may reach them. */
  WEBHOOK_FORBIDDEN_ADDRESSES: parsedText(parseAddressList, ADDRESS_LIST_EXPECTED).prefault(''),
  /** Age from which events, deliveries and attempts are dropped, by weeks. */
  DELIVERY_KEEP_DAYS: z.coerce.number().int().min(KEEP_DAYS_MIN).default(KEEP_DAYS),
  DELIVERY_TIMEOUT_MS: milliseconds(DELIVERY_TIMEOUT_MS),
  /** Until a new process begins to re-wrap what is sealed to older keys. */
  WEBHOOK_RESEALING_DELAY_MS: milliseconds(RESEALING_DELAY_MS),
  DELIVERY_LEASE_MS: z.coerce.number().int().min(1).optional(),
  DELIVERY_IN_FLIGHT_MAX: z.coerce.number().int().min(1).max(4_096).default(IN_FLIGHT_MAX),
  DELIVERY_IN_FLIGHT_PER_LANE_MAX: z.coerce.number().int().min(1).default(IN_FLIGHT_PER_LANE_MAX),
});

/** The environment of the dispatcher, as far as its roles need it. */
export const DispatcherConfig = Settings.superRefine((settings, context) => {
  const refuse = (path: keyof typeof settings, message: string): void => {
    context.addIssue({ code: 'custom', path: [path], message });
  };
  if (settings.ROLES.includes('api') && settings.PORT === undefined) {
    refuse('PORT', 'expected a port number for the api role');
  }
  if (settings.ROLES.includes('api') && settings.WEBHOOK_SEALING_PUBLIC_KEY === undefined) {
    refuse('WEBHOOK_SEALING_PUBLIC_KEY', 'expected a public key for the api role');
  }
  if (settings.ROLES.includes('sender') && settings.WEBHOOK_SEALING_PRIVATE_KEYS === undefined) {
    refuse('WEBHOOK_SEALING_PRIVATE_KEYS', 'expected private keys for the sender role');
  }
  if (leaseMsOf(settings) < settings.DELIVERY_TIMEOUT_MS + LEASE_MARGIN_MS_MIN) {
    refuse('DELIVERY_LEASE_MS', `expected ${LEASE_MARGIN_MS_MIN} ms more than DELIVERY_TIMEOUT_MS`);
  }
});
export type DispatcherConfig = z.infer<typeof DispatcherConfig>;

/** How long a claim holds a lane, if it is not renewed: always longer than the requests that begin under it. */
export function leaseMsOf(settings: {
  DELIVERY_TIMEOUT_MS: number;
  DELIVERY_LEASE_MS?: number | undefined;
}): number {
  return settings.DELIVERY_LEASE_MS ?? settings.DELIVERY_TIMEOUT_MS + LEASE_MARGIN_MS;
}
