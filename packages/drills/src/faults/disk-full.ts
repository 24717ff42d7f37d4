import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeSync, openSync, closeSync } from 'node:fs';
import path from 'node:path';

import type { Drill } from '../drill.ts';
import { outboxDrained } from './outbox-age.ts';

const SIZE = '700m';
const CHUNK = Buffer.alloc(1024 * 1024);
const FILLER = 'filler';

const placeOf = (home: string): string => path.join(home, 'data/postgres');

/** The data of Postgres stands on a small file system of its own, for which root is needed. */
export const diskFull: Drill = {
  name: 'disk-full',
  purpose: 'the disk of Postgres is full',
  alerts: ['PostgresDiskFull'],
  prepare: async (home) => {
    mkdirSync(placeOf(home), { recursive: true });
    run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=0711`, 'tmpfs', placeOf(home)]);
    return {};
  },
  cause: async (mesh) => {
    const file = openSync(path.join(placeOf(mesh.home), FILLER), 'w');
    try {
      for (;;) writeSync(file, CHUNK);
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(file);
    }
  },
  effect: async (mesh, load) => {
    if (statfsSync(placeOf(mesh.home)).bavail > 0) await mesh.query('select 1');
    if (load.failures() === 0) throw new Error('no call has failed');
  },
  end: async (mesh) => rmSync(path.join(placeOf(mesh.home), FILLER)),
  recovered: async (mesh) => {
    await mesh.query('select 1');
    await outboxDrained(mesh);
  },
  cleanUp: async (home) => run('umount', [placeOf(home)]),
};

function run(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command}: ${stderr.trim()} (this drill needs root)`);
}
