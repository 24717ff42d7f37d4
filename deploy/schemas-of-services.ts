import { fileURLToPath } from 'node:url';

import type { Mechanism } from '@pixmesh/postgres/migrate';

type ServiceSchema = {
  schema: string;
  mechanisms: readonly Mechanism[];
};

/** Of every service that takes part in the topics. */
const MESSAGING = ['dead-letters', 'message-schemas'] as const;

/** What each service keeps in Postgres: its own schema, and which shared mechanisms live in it. */
const SERVICE_SCHEMAS: Readonly<Record<string, ServiceSchema>> = {
  gateway: { schema: 'gateway', mechanisms: ['outbox', ...MESSAGING] },
  charges: { schema: 'charges', mechanisms: ['outbox', ...MESSAGING, 'reconciliation'] },
  payouts: { schema: 'payouts', mechanisms: ['outbox', ...MESSAGING, 'reconciliation'] },
  ledger: { schema: 'ledger', mechanisms: ['outbox', ...MESSAGING, 'reconciliation'] },
  'webhook-dispatcher': { schema: 'webhook_dispatcher', mechanisms: MESSAGING },
  'acquirer-simulator': { schema: 'acquirer_simulator', mechanisms: [] },
};

export type SchemaToMigrate = ServiceSchema & { service: string; migrationsDir: string };

export function schemasToMigrate(): SchemaToMigrate[] {
  return Object.entries(SERVICE_SCHEMAS).map(([service, entry]) => ({
    ...entry,
    service,
    migrationsDir: fileURLToPath(new URL(`../services/${service}/migrations`, import.meta.url)),
  }));
}
