import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Stack } from '../with-stack.ts';

const SERVER = fileURLToPath(new URL('./baseline-server.ts', import.meta.url));

/** Runs the baseline as a process of its own, like each service of the mesh. */
export async function withBaseline(
  stack: Stack,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const secrets = readAcquirerCredentials();
  const child = spawn(process.execPath, [SERVER], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      NODE_ENV: 'production',
      BASELINE_DATABASE_URL: stack.postgres_url,
      BASELINE_ACQUIRER_URL: stack.simulator_url,
      ...secrets,
    },
  });
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    await work(line.toString().trim());
  } finally {
    child.kill('SIGTERM');
  }
}

function readAcquirerCredentials(): NodeJS.ProcessEnv {
  const file = path.resolve('.pixmesh-bench', 'secrets.json');
  const secrets = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  return {
    BASELINE_CLIENT_ID: secrets['acquirerClientId'],
    BASELINE_CLIENT_SECRET: secrets['acquirerClientSecret'],
    BASELINE_PIX_KEY: secrets['acquirerPixKey'],
  };
}
