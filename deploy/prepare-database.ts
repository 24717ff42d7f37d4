import { prepareOwner } from '@pixmesh/postgres/owner-role';
import { EnvironmentConfig, readConfig } from '@pixmesh/service/config';
import { z } from 'zod';

import { schemasToMigrate } from './schemas-of-services.ts';

const SECRET_LENGTH_MIN = 16;

export const OwnerConfig = z.object({
  ...EnvironmentConfig,
  /** A superuser, or the administrator that a managed Postgres gives: may make roles, and give the database away. */
  SUPERUSER_DATABASE_URL: z.url({ error: 'expected a postgres:// URL' }),
  DATABASE_PASSWORD_OWNER: z
    .string({ error: 'expected the password of pixmesh_owner' })
    .min(SECRET_LENGTH_MIN, { error: `expected at least ${SECRET_LENGTH_MIN} characters` }),
});

/**
 * Makes the role by which the deploy job connects, and hands it the database with everything of ours in it: once for an
 * installation, before its first deploy job. Safe to repeat, and while services run.
 */
export async function prepareDatabase(env: NodeJS.ProcessEnv = process.env): Promise<void> {
  const config = readConfig(OwnerConfig, env);
  await prepareOwner({
    adminUrl: config.SUPERUSER_DATABASE_URL,
    password: config.DATABASE_PASSWORD_OWNER,
    schemas: schemasToMigrate().map(({ schema }) => schema),
  });
}
