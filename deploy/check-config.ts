import { readdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { readIdentity } from '@pixmesh/certificates/mesh-identity';
import { inspectConfig } from '@pixmesh/service/config';
import { readGiven } from '@pixmesh/service/given-settings';
import { loadSettings } from '@pixmesh/service/load-settings';
import type { z } from 'zod';

import { IdentitiesConfig } from './issue-identities.ts';
import { OwnerConfig } from './prepare-database.ts';
import { DeployConfig } from './prepare-installation.ts';
import { CallbackConfig } from './register-callback.ts';
import { TopicsConfig } from './topics.ts';

/** Deploy jobs by the name of their identity or of their argument. */
const JOBS: Readonly<Record<string, z.ZodObject>> = {
  deploy: DeployConfig,
  callback: CallbackConfig,
  owner: OwnerConfig,
  identities: IdentitiesConfig,
  topics: TopicsConfig,
};
const SERVICES = readdirSync(path.join(import.meta.dirname, '../services'));
const IDENTITY_EXPECTED =
  'expected a folder with readable ca.crt, tls.crt of the subject CN=<name> alone, and tls.key that belongs to it';
const NAMES = [...SERVICES, ...Object.keys(JOBS)];

/**
 * `npm run check-config -- --service charges`: reads the environment and the identity as that service would, without
 * starting it, and says what its start would refuse. It prints names of settings and what is expected of them, never a
 * value.
 */
const { service = '' } = parseArgs({ options: { service: { type: 'string' } } }).values;
if (NAMES.includes(service)) await check(service);
else fail(`--service: expected one of ${NAMES.join(', ')}`);

async function check(name: string): Promise<void> {
  const schema = JOBS[name] ?? (await loadSettings(name));
  const { refused: wrong, lifted } = inspectConfig(schema);
  const refused = [...wrong, ...refusedIdentity(Object.keys(schema.shape))];
  for (const line of refused) console.log(`refused: ${line}`);
  for (const line of lifted) console.log(`allowed by PIXMESH_ALLOW_PLAINTEXT: ${line}`);
  if (refused.length === 0) console.log(`${name} accepts this environment`);
  else fail(`${name} would not start: ${refused.length} refused`);
}

/** The files that a start opens next. Where none are named, that has its line already, or they are not needed. */
function refusedIdentity(names: readonly string[]): string[] {
  const setting = 'MESH_TLS_DIR';
  const { given } = readGiven(new Set(names.filter((name) => name === setting)), process.env);
  const folder = given[setting];
  if (folder === undefined) return [];
  try {
    readIdentity(folder);
    return [];
  } catch {
    return [`${setting}: ${IDENTITY_EXPECTED}`];
  }
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}
