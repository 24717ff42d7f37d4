import { expect, inject, test } from 'vitest';

import { expectNoBreaks } from '../find-breaks.ts';
import { admin, useHome } from '../mesh.ts';

/** For everything that the ring has done, the slowest of it included. */
const SETTLED_MS_MAX = 600_000;

test.each(inject('homes').map((home, index) => ({ home, stack: index + 1 })))(
  'reconciliation finds every history of the ring explained, and no message was given up: stack $stack',
  async ({ home }) => {
    useHome(home);
    await expectNoBreaks();
    expect((await admin('GET', '/admin/dead-letters')).body.data).toEqual([]);
    // No kill, outage or fault of the ring has stopped payouts, and nothing that an operator has ended did again.
    const stops = await admin('GET', '/admin/payouts/stops?status=in_force');
    expect(stops.body.data).toEqual([]);
  },
  SETTLED_MS_MAX,
);
