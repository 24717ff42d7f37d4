import { scaled } from '@pixmesh/testkit/long-runs';
import { eventually } from '@pixmesh/testkit/eventually';
import { expect } from 'vitest';

import { findBreaks } from './payout-calls.ts';

/** Every difference is found, explained and gone within this of the last change. */
const SETTLED_MS_MAX = scaled(90_000, 600_000);

/** Waits until reconciliation finds nothing but what it found before. */
export async function expectNoNewBreaks(before: readonly string[]): Promise<void> {
  await eventually(async () => {
    const found = await findBreaks();
    expect(found.filter((one) => !before.includes(one))).toEqual([]);
  }, SETTLED_MS_MAX);
}
