import { readFileSync } from 'node:fs';
import path from 'node:path';

import { runBaseline } from '../run-baseline.ts';
import type { Stack } from '../with-stack.ts';

/** The bare server, with the credentials by which the mesh reaches the same acquirer. */
export async function withBaseline(
  stack: Stack,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const settings = {
    BASELINE_DATABASE_URL: stack.postgres_url,
    BASELINE_ACQUIRER_URL: stack.simulator_url,
    ...readAcquirerCredentials(stack.home),
  };
  await runBaseline(new URL('./baseline-server.ts', import.meta.url), settings, work);
}

function readAcquirerCredentials(home: string): NodeJS.ProcessEnv {
  const file = path.join(home, 'secrets.json');
  const secrets = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  return {
    BASELINE_CLIENT_ID: secrets['acquirerClientId'],
    BASELINE_CLIENT_SECRET: secrets['acquirerClientSecret'],
    BASELINE_PIX_KEY: secrets['acquirerPixKey'],
  };
}
