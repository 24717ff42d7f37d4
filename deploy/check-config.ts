import { readdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { inspectConfig } from '@pixmesh/service/config';
import { loadSettings } from '@pixmesh/service/load-settings';
import type { z } from 'zod';

import { OwnerConfig } from './prepare-database.ts';
import { DeployConfig } from './prepare-installation.ts';
import { CallbackConfig } from './register-callback.ts';

/** Deploy jobs by the name of their identity or of their argument. */
const JOBS: Readonly<Record<string, z.ZodObject>> = {
  deploy: DeployConfig,
  callback: CallbackConfig,
  owner: OwnerConfig,
};
const SERVICES = readdirSync(path.join(import.meta.dirname, '../services'));
const NAMES = [...SERVICES, ...Object.keys(JOBS)];

/**
 * `npm run check-config -- --service charges`: reads the environment as that service would, without starting it, and
 * says what its start would refuse. It prints names of settings and what is expected of them, never a value.
 */
const { service = '' } = parseArgs({ options: { service: { type: 'string' } } }).values;
if (NAMES.includes(service)) await check(service);
else fail(`--service: expected one of ${NAMES.join(', ')}`);

async function check(name: string): Promise<void> {
  const { refused, lifted } = inspectConfig(JOBS[name] ?? (await loadSettings(name)));
  for (const line of refused) console.log(`refused: ${line}`);
  for (const line of lifted) console.log(`allowed by PIXMESH_ALLOW_PLAINTEXT: ${line}`);
  if (refused.length === 0) console.log(`${name} accepts this environment`);
  else fail(`${name} would not start: ${refused.length} refused`);
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}
