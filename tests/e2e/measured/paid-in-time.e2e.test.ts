import { scaled } from '@pixmesh/testkit/long-runs';
import { expect, test } from 'vitest';

import { aMerchant, availableOf, createCharge, simulator, waitUntilPaid } from '../mesh.ts';

const PAYMENTS = scaled(100, 200);
const PAID_P99_MS_MAX = 1_000;

/** Pays charges one after the other; answers the 99th percentile of the time from payment to paid. */
async function payMany(): Promise<number> {
  const merchant = await aMerchant();
  const times: number[] = [];
  for (let index = 0; index < PAYMENTS; index += 1) {
    const created = await createCharge(merchant, { amount: 100 + index });
    expect(created.status).toBe(201);
    const startedMs = performance.now();
    await simulator.pay(created.body.id);
    await waitUntilPaid(merchant, created.body.id);
    times.push(performance.now() - startedMs);
  }
  const sorted = times.toSorted((a, b) => a - b);
  const [p50 = 0, p99 = 0] = [
    sorted[Math.ceil(PAYMENTS * 0.5) - 1],
    sorted[Math.ceil(PAYMENTS * 0.99) - 1],
  ];
  console.log(`pay -> paid over ${PAYMENTS}: p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`);
  expect(await availableOf(merchant)).toBe(PAYMENTS * 100 + ((PAYMENTS - 1) * PAYMENTS) / 2);
  return p99;
}

test('a charge is paid within a second of its payment, 99 times out of 100', async () => {
  const p99 = await payMany();
  // Two pauses of the machine are enough for one slow series; what is slow by itself is so again.
  expect(p99 < PAID_P99_MS_MAX ? p99 : await payMany()).toBeLessThan(PAID_P99_MS_MAX);
});
