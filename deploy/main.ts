import { ConfigError } from '@pixmesh/http/config';

import { registerCallback } from './register-callback.ts';
import { prepareInstallation } from './prepare-installation.ts';

/** Deploy jobs: `node deploy/main.ts` prepares database, topics and schemas; `… callback` the acquirer. */
try {
  await (process.argv[2] === 'callback' ? registerCallback() : prepareInstallation());
} catch (error) {
  const text = error instanceof ConfigError ? error.message.replaceAll('\n', '; ') : undefined;
  process.stderr.write(`deploy: ${text ?? (error as Error).stack}\n`);
  process.exitCode = 1;
}
