import { text } from 'node:stream/consumers';

import type { MessageSchema } from '@pixmesh/postgres/message-schemas';
import { ConfigError } from '@pixmesh/service/config';

import { issueIdentities } from './issue-identities.ts';
import { registerCallback } from './register-callback.ts';
import { prepareDatabase } from './prepare-database.ts';
import { prepareInstallation } from './prepare-installation.ts';
import { rotateSecret } from './rotate-secret.ts';
import { topics } from './topics.ts';

/** Jobs by their words. Without a word the installation is prepared: schemas, topics and message schemas. */
const JOBS: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  callback: async () => await registerCallback(),
  identities: async () => printLines(await issueIdentities()),
  owner: async () => await prepareDatabase(),
  rotate: async ([setting = '', step = '']) => {
    process.stdout.write(rotateSecret(setting, step, await text(process.stdin)));
  },
  topics: async (args) => await topics(args),
};

const [word, ...args] = process.argv.slice(2);
try {
  if (word === undefined) printSchemaIds(await prepareInstallation());
  else await jobOf(word)(args);
} catch (error) {
  const refusal = error instanceof ConfigError ? error.message.replaceAll('\n', '; ') : undefined;
  process.stderr.write(`deploy: ${refusal ?? (error as Error).stack}\n`);
  process.exitCode = 1;
}

/** @throws ConfigError, so that a mistyped word changes nothing */
function jobOf(name: string) {
  const job = Object.hasOwn(JOBS, name) ? JOBS[name] : undefined;
  if (job !== undefined) return job;
  throw new ConfigError(`expected one of ${Object.keys(JOBS).join(', ')}, or no word`);
}

function printSchemaIds(schemas: readonly MessageSchema[]): void {
  printLines(schemas.map(({ subject, id }) => `${subject} ${id}`));
}

function printLines(lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}
