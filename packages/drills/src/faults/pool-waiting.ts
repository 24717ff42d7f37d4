import type { Drill } from '../drill.ts';
import { createMerchant } from '../load/merchant.ts';
import { atRest } from './at-rest.ts';
import { heldLocks } from './held-locks.ts';
import { repeat, type Repetition } from './repeat.ts';

/** More than the connections of charges. */
const READERS = 40;
const PAUSE_MS = 10;
const NOBODYS_CHARGE = 'GET /charges/00000000-0000-7000-8000-000000000000';

const chargesAtRest = atRest('charges');
const locks = heldLocks('lock table charges.charges in access exclusive mode');
let readers: Repetition[] = [];

/** Every read of charges waits for the lock with a connection of its own, and the others wait for a connection. */
export const poolWaiting: Drill = {
  name: 'pool-waiting',
  purpose: 'the table of charges is locked, as by a migration without a limit',
  alerts: ['PostgresPoolWaiting'],
  cause: async (mesh, load) => {
    await locks.cause(mesh, load);
    const { key } = await createMerchant(mesh);
    readers = Array.from({ length: READERS }, () =>
      repeat(PAUSE_MS, () => mesh.v1(key, { route: NOBODYS_CHARGE })),
    );
  },
  effect: async (mesh, load) => {
    if (load.failures() === 0) throw new Error('no call has failed');
    if ((await mesh.metric('charges', 'fair_share_waiting')) === 0) throw new Error('none waits');
  },
  end: async (mesh, load) => {
    await locks.end(mesh, load);
    await Promise.all(readers.map((reader) => reader.stop()));
  },
  recovered: async (mesh) => {
    if ((await mesh.metric('charges', 'fair_share_waiting')) > 0) throw new Error('some wait');
    await chargesAtRest(mesh);
  },
};
