import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import process from 'node:process';

import { createDemoAccount, isAccepted } from './demo-account.ts';

/**
 * `node deploy/compose/demo.ts`, last of all containers: makes a demo account, once, prints where everything is, and
 * stays. `docker compose up --wait` takes a container that has ended for a failure, so this one answers `/readyz`
 * instead.
 */
const GATEWAY = 'http://gateway:8080';
const ADMIN = 'http://gateway:8081';
const KEY_FILE = '/var/lib/pixmesh/demo-api-key';
const TOKEN_FILE = '/run/secrets/ADMIN_BOOTSTRAP_TOKEN';
const OWNER_ONLY = 0o600;

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit());
const key = await readOrCreateKey();
createServer((_, response) => response.end()).listen(9090, '127.0.0.1');
process.stdout.write(`${describeInstallation(key).join('\n')}\n`);

async function readOrCreateKey(): Promise<string> {
  const kept = existsSync(KEY_FILE) ? readFileSync(KEY_FILE, 'utf8') : '';
  if (kept !== '' && (await isAccepted(GATEWAY, kept))) return kept;
  const created = await createDemoAccount({ url: ADMIN, token: readFileSync(TOKEN_FILE, 'utf8') });
  writeFileSync(KEY_FILE, created, { mode: OWNER_ONLY });
  return created;
}

/** The ports are those that the compose file publishes; of a range, for several gateways, the first. */
function describeInstallation(apiKey: string): string[] {
  const at = (variable: string) => `http://localhost:${process.env[variable]?.split('-')[0] ?? ''}`;
  return [
    '',
    'Pixmesh is ready.',
    '',
    `  API and its reference           ${at('GATEWAY_PORT')}/v1, ${at('GATEWAY_PORT')}/reference`,
    `  Admin API                       ${at('ADMIN_PORT')}/admin`,
    `  Callbacks of the acquirer       ${at('CALLBACK_PORT')}`,
    `  Simulated acquirer              ${at('SIMULATOR_PORT')}/control`,
    `  Webhooks that were received     ${at('RECEIVER_PORT')}/requests`,
    '',
    `  API key of the demo account     ${apiKey}`,
    '',
    `  curl -H 'X-API-Key: ${apiKey}' ${at('GATEWAY_PORT')}/v1/balance`,
    '',
    '  The operator’s token: deploy/README.md.',
    '',
  ];
}
