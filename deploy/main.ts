import { text } from 'node:stream/consumers';

import type { MessageSchema } from '@pixmesh/postgres/message-schemas';
import { ConfigError } from '@pixmesh/service/config';

import { issueIdentities } from './issue-identities.ts';
import { registerCallback } from './register-callback.ts';
import { prepareDatabase } from './prepare-database.ts';
import { prepareInstallation } from './prepare-installation.ts';
import { rotateSecret } from './rotate-secret.ts';

/**
 * Deploy jobs: `node deploy/main.ts` prepares schemas, topics and message schemas; `… owner` the database for it, once;
 * `… callback` the acquirer; `… identities` makes and renews certificates; `… rotate SETTING STEP` writes what a secret
 * becomes.
 */
const [job, setting = '', step = ''] = process.argv.slice(2);
try {
  if (job === 'callback') await registerCallback();
  else if (job === 'owner') await prepareDatabase();
  else if (job === 'identities') printLines(await issueIdentities());
  else if (job === 'rotate')
    process.stdout.write(rotateSecret(setting, step, await text(process.stdin)));
  else printSchemaIds(await prepareInstallation());
} catch (error) {
  const refusal = error instanceof ConfigError ? error.message.replaceAll('\n', '; ') : undefined;
  process.stderr.write(`deploy: ${refusal ?? (error as Error).stack}\n`);
  process.exitCode = 1;
}

function printSchemaIds(schemas: readonly MessageSchema[]): void {
  printLines(schemas.map(({ subject, id }) => `${subject} ${id}`));
}

function printLines(lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}
