import path from 'node:path';
import { parseArgs } from 'node:util';

import { ConfigError } from '@pixmesh/service/config';
import { z } from 'zod';

import { checkBackup } from './check-backup.ts';
import { exportAudit } from './export-audit.ts';
import { prepareRestored } from './prepare-restored.ts';
import { restoreBase } from './restore-base.ts';
import { takeBaseBackup } from './take-base-backup.ts';

/**
 * `node deploy/backup/main.ts COMMAND`: `base` takes a base backup, `audit` exports what operators have done,
 * `check` verifies everything that is stored, `restore --to FOLDER --at TIME` (or `latest`) lays out a data folder,
 * `prepare --at TIME` makes the restored database ready for its services. What it prints is one JSON object.
 */
const COMMANDS: Readonly<Record<string, () => Promise<object>>> = {
  base: async () => ({ folder: await takeBaseBackup() }),
  audit: async () => ({ entries: await exportAudit() }),
  check: async () => {
    const report = await checkBackup();
    if (report.problems.length > 0) process.exitCode = 1;
    return report;
  },
  restore: async () => {
    const { to, at } = RestoreArguments.parse(values);
    const restored = await restoreBase({ to: path.resolve(to), at });
    return {
      base: restored.base.folder,
      passed_over: restored.passedOver,
      at: restored.at,
      timeline: restored.timeline,
      segments: restored.segments,
      wal_folder: restored.walFolder,
    };
  },
  prepare: async () => await prepareRestored(PrepareArguments.parse(values)),
};

/** A moment that is cut would be an earlier one. */
const FINER_THAN_MS = /\.\d{4}/;
const Moment = z.iso
  .datetime({ offset: true })
  .refine((text) => !FINER_THAN_MS.test(text))
  .transform((text) => new Date(text));
const PrepareArguments = z.object({ at: Moment });
const RestoreArguments = z.object({
  at: z.union([z.literal('latest'), Moment], {
    error: 'expected a moment, to the millisecond at most, or latest',
  }),
  to: z.string(),
});

const { values, positionals } = parseArgs({
  options: { to: { type: 'string' }, at: { type: 'string' } },
  allowPositionals: true,
});
const command = COMMANDS[positionals[0] ?? ''];
try {
  if (command === undefined) {
    throw new ConfigError(`expected one of ${Object.keys(COMMANDS).join(', ')}`);
  }
  console.log(JSON.stringify(await command(), null, 2));
} catch (error) {
  process.stderr.write(`backup: ${describe(error)}\n`);
  process.exitCode = 1;
}

function describe(error: unknown): string {
  if (error instanceof ConfigError) return error.message.replaceAll('\n', '; ');
  if (error instanceof z.ZodError) {
    return error.issues.map(({ path: at, message }) => `--${String(at[0])}: ${message}`).join('; ');
  }
  return (error as Error).stack ?? String(error);
}
