import { existsSync } from 'node:fs';
import path from 'node:path';

import { eventually } from '@pixmesh/testkit/eventually';
import { beforeAll, inject } from 'vitest';

import { useHome } from '../e2e/mesh.ts';

/** A second stack on a busy machine, where files of this folder alone run: else it began to boot long before. */
const BOOT_MS_MAX = 180_000;

/** For files that need a stack to themselves: the first worker uses the first stack, the second worker the second. */
const homes = inject('homes');
const worker = Number(process.env['VITEST_POOL_ID']);
const home = homes[(worker - 1) % homes.length];
if (home === undefined) throw new Error(`worker ${worker} has no stack`);
useHome(home);

beforeAll(async () => {
  await eventually(() => {
    if (!existsSync(path.join(home, 'stack.json'))) throw new Error(`no stack runs in ${home}`);
  }, BOOT_MS_MAX);
}, BOOT_MS_MAX);
