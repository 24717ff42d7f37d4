import { fileURLToPath } from 'node:url';

import type { Mechanism } from '@pixmesh/postgres/migrate';
import { z } from 'zod';

type SchemaName =
  | 'gateway'
  | 'charges'
  | 'payouts'
  | 'ledger'
  | 'webhook_dispatcher'
  | 'acquirer_simulator';

type ServiceSchema = {
  schema: SchemaName;
  mechanisms: readonly Mechanism[];
  /** Not in production, where its service refuses to start. */
  isForTrials?: true;
};

/** Of every service that takes part in the topics. */
const MESSAGING = ['dead-letters', 'message-schemas', 'reconciliation'] as const;
/** Of services that speak with the acquirer. */
const OF_THE_ACQUIRER = ['outbox', ...MESSAGING, 'acquirer-lists'] as const;

/** What each service keeps in Postgres: its own schema, and which shared mechanisms live in it. */
const SERVICE_SCHEMAS: Readonly<Record<string, ServiceSchema>> = {
  gateway: { schema: 'gateway', mechanisms: ['outbox', ...MESSAGING] },
  charges: { schema: 'charges', mechanisms: OF_THE_ACQUIRER },
  payouts: { schema: 'payouts', mechanisms: OF_THE_ACQUIRER },
  ledger: { schema: 'ledger', mechanisms: ['outbox', ...MESSAGING] },
  'webhook-dispatcher': { schema: 'webhook_dispatcher', mechanisms: MESSAGING },
  'acquirer-simulator': { schema: 'acquirer_simulator', mechanisms: [], isForTrials: true },
};

/** The setting with the password of a schema's role. */
export function passwordSetting(schema: SchemaName): PasswordSetting {
  return `DATABASE_PASSWORD_${schema.toUpperCase() as Uppercase<SchemaName>}`;
}
type PasswordSetting = `DATABASE_PASSWORD_${Uppercase<SchemaName>}`;

/** A field for the password of each role; `checkPasswords` says when those for trials have to be there. */
export const PASSWORD_FIELDS = Object.fromEntries(
  Object.values(SERVICE_SCHEMAS).map(({ schema, isForTrials }): [string, Password] => {
    const password = z.string({ error: passwordExpected(schema) });
    return [passwordSetting(schema), isForTrials ? password.optional() : password];
  }),
) as Record<PasswordSetting, Password>;
type Password = z.ZodType<string | undefined>;

/** A role that is made has a password. */
export function checkPasswords(
  config: { NODE_ENV: string } & Record<PasswordSetting, string | undefined>,
  context: z.RefinementCtx,
): void {
  for (const { schema } of schemasOfInstallation(config)) {
    const setting = passwordSetting(schema);
    if (config[setting] !== undefined) continue;
    context.addIssue({ code: 'custom', path: [setting], message: passwordExpected(schema) });
  }
}

function passwordExpected(schema: SchemaName): string {
  return `expected the password of pixmesh_${schema}`;
}

export type SchemaToMigrate = ServiceSchema & { service: string; migrationsDir: string };

/** What a deploy job makes: in production nothing for trials. */
export function schemasOfInstallation({ NODE_ENV }: { NODE_ENV: string }): SchemaToMigrate[] {
  return schemasToMigrate().filter(({ isForTrials }) => !isForTrials || NODE_ENV !== 'production');
}

/** All that there are, as tests and a laptop have them. */
export function schemasToMigrate(): SchemaToMigrate[] {
  return Object.entries(SERVICE_SCHEMAS).map(([service, entry]) => ({
    ...entry,
    service,
    migrationsDir: fileURLToPath(new URL(`../services/${service}/migrations`, import.meta.url)),
  }));
}
