import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

import { eventually } from '@pixmesh/testkit/eventually';
import { sampled, scaled } from '@pixmesh/testkit/long-runs';
import { afterEach, expect, test } from 'vitest';

import { expectNoBreaks } from '../find-breaks.ts';
import { pidOf } from '../kill-process.ts';
import {
  admin,
  aMerchant,
  availableOf,
  createCharge,
  createChargeStubbornly,
  type Merchant,
  readCharge,
  received,
  simulator,
  stack,
  waitUntilPaid,
} from '../mesh.ts';

const OUTAGE_MS = scaled(5_000, 60_000);
const RECOVERY_MS_MAX = 60_000;
/** At least so many, and as many more as it takes until all have been killed. */
const PAYMENTS_MIN = scaled(60, 200);
const BACKLOG = scaled(40, 100);

/** The service processes in the order in which they are killed; a usual run kills some of them. */
const KILLED = sampled(
  ['gateway', 'charges', 'payouts', 'ledger', 'webhook-dispatcher', 'acquirer-simulator'],
  2,
);

afterEach(async () => {
  await simulator.clearFaults();
});

test('an acquirer away while callbacks are pending stalls nothing and loses nothing', async () => {
  const merchant = await aMerchant();
  const charges = await createMany(merchant, BACKLOG);
  await simulator.setFaults([{ operation: 'getCharge', fault: 'hang' }]);
  await Promise.all(charges.map((id) => simulator.pay(id)));
  await outage();
  await simulator.clearFaults();
  const returnedMs = performance.now();
  for (const id of charges) await waitUntilPaid(merchant, id, RECOVERY_MS_MAX);
  const seconds = (performance.now() - returnedMs) / 1000;
  console.log(`acquirer back -> ${BACKLOG} charges paid: ${seconds.toFixed(1)} s`);
  expect(seconds * 1000).toBeLessThan(RECOVERY_MS_MAX);
  expect(await availableOf(merchant)).toBe(BACKLOG * 1_234);
  expect((await admin('GET', '/admin/dead-letters')).body.data).toEqual([]);
}, 300_000);

test('a broker away delays events and refuses no creation', async () => {
  const merchant = await aMerchant();
  const path = `/${randomUUID()}`;
  process.kill(pidOf('kafka'), 'SIGSTOP');
  const charges: string[] = [];
  try {
    const endMs = performance.now() + OUTAGE_MS;
    while (performance.now() < endMs) {
      const created = await createCharge(merchant, {
        webhook_url: `http://a.receiver.example.com${path}`,
      });
      expect(created.status).toBe(201);
      charges.push(created.body.id);
      await simulator.pay(created.body.id);
    }
  } finally {
    process.kill(pidOf('kafka'), 'SIGCONT');
  }
  console.log(`created while the broker was away: ${charges.length}`);
  for (const id of charges) await waitUntilPaid(merchant, id, RECOVERY_MS_MAX);
  await expectEachAnnouncedOnce(path, charges);
}, 300_000);

test('a broker killed comes back by itself and everything arrives', async () => {
  const merchant = await aMerchant();
  const path = `/${randomUUID()}`;
  process.kill(pidOf('kafka'), 'SIGKILL');
  const charges = await createMany(merchant, 20, {
    webhook_url: `http://a.receiver.example.com${path}`,
  });
  await Promise.all(charges.map((id) => simulator.pay(id)));
  for (const id of charges) await waitUntilPaid(merchant, id, RECOVERY_MS_MAX);
  await expectEachAnnouncedOnce(path, charges);
}, 300_000);

test('services killed in turn during payments come back, and every payment counts once', async () => {
  const merchant = await aMerchant();
  const path = `/${randomUUID()}`;
  const charges: string[] = [];
  const killed = new AbortController();
  const killing = killInTurn(() => charges.filter(Boolean).length).finally(() => killed.abort());
  const worker = async () => {
    while (charges.length < PAYMENTS_MIN || !killed.signal.aborted) {
      const slot = charges.push('') - 1;
      const webhook_url = `http://a.receiver.example.com${path}`;
      const charge = await createChargeStubbornly(merchant, { webhook_url });
      charges[slot] = charge.id;
      await eventually(
        () => simulator.pay(charge.id, { end_to_end_id: endToEndIdOf(slot) }),
        60_000,
      );
    }
  };
  await Promise.all(Array.from({ length: 8 }, () => worker()));
  const { kills, paymentsBefore } = await killing;
  for (const id of charges) {
    await eventually(async () => {
      expect((await readCharge(merchant, id)).status).toBe('paid');
    }, RECOVERY_MS_MAX);
  }
  console.log(`killed during ${charges.length} payments: ${kills.join(', ')}`);
  expect(kills).toEqual(KILLED);
  // All of them during the payments, none after the last.
  expect(Math.max(...paymentsBefore)).toBeLessThan(charges.length);
  expect(await availableOf(merchant)).toBe(charges.length * 1_234);
  await expectEachAnnouncedOnce(path, charges);
  expect((await admin('GET', '/admin/dead-letters')).body.data).toEqual([]);
  await expectNoBreaks();
}, 400_000);

/** Kills each of them once, each only after the one before is back under a new pid. */
async function killInTurn(
  countPayments: () => number,
): Promise<{ kills: string[]; paymentsBefore: number[] }> {
  const kills: string[] = [];
  const paymentsBefore: number[] = [];
  for (const name of KILLED) {
    const pid = pidOf(name);
    paymentsBefore.push(countPayments());
    process.kill(pid, 'SIGKILL');
    kills.push(name);
    await eventually(() => {
      expect(stack().pids[name]).not.toBe(pid);
    }, 30_000);
  }
  return { kills, paymentsBefore };
}

/** Each charge's three events reached the receiver; repeats carry the delivery id of the first. */
async function expectEachAnnouncedOnce(path: string, charges: readonly string[]): Promise<void> {
  await eventually(async () => {
    const deliveries = new Map<string, Set<string>>();
    for (const request of await received(path)) {
      const body = JSON.parse(Buffer.from(request.body_base64, 'base64').toString());
      const occurrence = `${body.event} ${body.data.id}`;
      deliveries.set(occurrence, (deliveries.get(occurrence) ?? new Set()).add(body.id));
    }
    expect(deliveries.size).toBe(charges.length * 3);
    for (const [occurrence, ids] of deliveries)
      expect([occurrence, ids.size]).toEqual([occurrence, 1]);
  }, 90_000);
}

async function createMany(
  merchant: Merchant,
  count: number,
  changes: object = {},
): Promise<string[]> {
  const created = await Promise.all(
    Array.from({ length: count }, () => createChargeStubbornly(merchant, changes)),
  );
  return created.map((charge) => charge.id);
}

function endToEndIdOf(slot: number): string {
  return `E12345678202611211200kill${String(slot).padStart(3, '0')}${randomUUID().slice(0, 4)}`;
}

/** An outage has to last; this is the length of it, not a wait for an outcome. */
async function outage(): Promise<void> {
  await delay(OUTAGE_MS);
}
