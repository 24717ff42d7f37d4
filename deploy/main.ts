import type { MessageSchema } from '@pixmesh/postgres/message-schemas';
import { ConfigError } from '@pixmesh/service/config';

import { registerCallback } from './register-callback.ts';
import { prepareInstallation } from './prepare-installation.ts';

/** Deploy jobs: `node deploy/main.ts` prepares database, topics and schemas; `… callback` the acquirer. */
try {
  if (process.argv[2] === 'callback') await registerCallback();
  else printSchemaIds(await prepareInstallation());
} catch (error) {
  const text = error instanceof ConfigError ? error.message.replaceAll('\n', '; ') : undefined;
  process.stderr.write(`deploy: ${text ?? (error as Error).stack}\n`);
  process.exitCode = 1;
}

function printSchemaIds(schemas: readonly MessageSchema[]): void {
  for (const { subject, id } of schemas) process.stdout.write(`${subject} ${id}\n`);
}
