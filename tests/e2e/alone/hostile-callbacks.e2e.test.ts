import { randomUUID } from 'node:crypto';

import { isLong, scaled } from '@pixmesh/testkit/long-runs';
import { testSeed } from '@pixmesh/testkit/test-seed';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { acquirer } from '../acquirer.ts';
import { announce, balancesOf, callbackUrl, noticeOf } from '../acquirer-channels.ts';
import { inParallel } from '@pixmesh/testkit/in-parallel';
import {
  admin,
  aMerchant,
  call,
  createChargeStubbornly,
  type Json,
  type Merchant,
  readCharge,
  simulator,
  stack,
  waitUntilPaid,
} from '../mesh.ts';

const FUZZED = scaled(200, 100_000);
const AT_ONCE = 16;
/** An acquirer posts on a few connections; more would measure how many can wait for two processors. */
const ACQUIRER_CONNECTIONS = 4;
/** From a body's last byte to the answer that says it is kept (decision 212). */
const ACK_P99_MS_MAX = 100;
const SETTLED_MS_MAX = 120_000;
const BODY_BYTES_MAX = 1024 * 1024;
const AMOUNT_CENTS = 2_000;
/** The platform's own account, which keeps money that nobody owns. */
const PLATFORM_ITEMS = '/admin/suspense?limit=100';

describe('a callback that is not what it seems', () => {
  test('is refused without the secret, whatever it says and however it spells the way', async () => {
    const { merchant, chargeId } = await aPendingCharge();
    const endToEndId = await payUnannounced(merchant, chargeId);
    const item = await noticeOf(endToEndId);
    for (const secret of ['x', randomUUID(), '%00', 'a'.repeat(2_000), '..%2f..']) {
      const answer = await post(callbackUrl(secret), JSON.stringify({ pix: [item] }));
      expect([secret.slice(0, 40), answer.status]).toEqual([secret.slice(0, 40), 401]);
    }
    expect((await readCharge(merchant, chargeId)).object).toBe('charge');
  });

  test('changes nothing where it names a payment that never was', async () => {
    const { merchant, chargeId } = await aPendingCharge();
    const before = await admin('GET', PLATFORM_ITEMS);
    const txid = chargeId.replaceAll('-', '');
    const valor = (AMOUNT_CENTS / 100).toFixed(2);
    const forged = { endToEndId: anEndToEndId(), txid, valor, horario: new Date().toISOString() };
    const back = { id: 'd1', rtrId: 'D1', valor, status: 'DEVOLVIDO' };
    await announce([forged, { ...forged, devolucoes: [back] }]);
    await announce([
      { ...forged, txid: undefined },
      { ...forged, chave: 'other@example.com' },
    ]);
    await settleARealCharge();
    const charge = await readCharge(merchant, chargeId);
    expect([charge.status, charge.refunded_amount]).toEqual(['pending', 0]);
    expect(await balancesOf(merchant.accountId)).toEqual(only(0));
    expect((await admin('GET', PLATFORM_ITEMS)).body).toEqual(before.body);
  });

  test('pays nothing where its Pix went to another key', async () => {
    const { merchant, chargeId } = await aPendingCharge();
    const before = await admin('GET', PLATFORM_ITEMS);
    const foreign = await call(`${stack().simulator_url}/control/pix`, {
      method: 'POST',
      body: {
        amount: AMOUNT_CENTS,
        chave: 'other@example.com',
        txid: chargeId.replaceAll('-', ''),
      },
    });
    expect(foreign.status).toBe(201);
    await announce([await noticeOf(foreign.body.end_to_end_id)]);
    await settleARealCharge();
    expect((await readCharge(merchant, chargeId)).status).toBe('pending');
    expect(await balancesOf(merchant.accountId)).toEqual(only(0));
    expect((await admin('GET', PLATFORM_ITEMS)).body).toEqual(before.body);
  });

  test('pays once however often it is replayed', async () => {
    const { merchant, chargeId } = await aPendingCharge();
    const paid = await acquirer.pay(chargeId);
    await waitUntilPaid(merchant, chargeId, SETTLED_MS_MAX);
    const item = await noticeOf(paid.body.end_to_end_id);
    await inParallel(AT_ONCE, 200, async () => await announce([item, item]));
    await settleARealCharge();
    expect((await readCharge(merchant, chargeId)).status).toBe('paid');
    expect(await balancesOf(merchant.accountId)).toEqual(only(AMOUNT_CENTS));
  });

  test('is refused where it is larger than any acquirer sends', async () => {
    const filler = 'x'.repeat(BODY_BYTES_MAX);
    const answer = await post(callbackUrl(), JSON.stringify({ pix: [], filler }));
    expect([answer.status, answer.body.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });
});

test(`of ${FUZZED} fuzzed callbacks all are kept and none has an effect`, async () => {
  const platformBefore = await admin('GET', PLATFORM_ITEMS);
  const { merchant, chargeId } = await aPendingCharge();
  const settled = await settleARealCharge();
  const bodies = fc.sample(aBody([chargeId, settled.chargeId]), {
    numRuns: FUZZED,
    seed: testSeed(),
  });
  const times: number[] = [];
  await inParallel(ACQUIRER_CONNECTIONS, bodies.length, async (index) => {
    const startedMs = performance.now();
    const answer = await post(callbackUrl(), bodies[index] ?? '');
    times.push(performance.now() - startedMs);
    expect([index, answer.status]).toEqual([index, 200]);
  });
  const sorted = times.toSorted((a, b) => a - b);
  const [p50 = 0, p99 = 0] = [0.5, 0.99].map((part) => sorted[Math.floor(part * sorted.length)]);
  console.log(
    `${FUZZED} callbacks: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms to their ack`,
  );
  if (isLong) expect(p99).toBeLessThanOrEqual(ACK_P99_MS_MAX);
  const startedMs = performance.now();
  await settleARealCharge();
  console.log(`a real charge was paid ${(performance.now() - startedMs).toFixed(0)} ms later`);
  const charge = await readCharge(merchant, chargeId);
  expect([charge.status, charge.refunded_amount]).toEqual(['pending', 0]);
  expect(await balancesOf(merchant.accountId)).toEqual(only(0));
  expect((await readCharge(settled.merchant, settled.chargeId)).status).toBe('paid');
  expect(await balancesOf(settled.merchant.accountId)).toEqual(only(AMOUNT_CENTS));
  expect((await admin('GET', PLATFORM_ITEMS)).body).toEqual(platformBefore.body);
}, 3_600_000);

/** Bodies from noise to well-formed lies about charges that exist. */
function aBody(chargeIds: readonly string[]): fc.Arbitrary<string> {
  const txids = chargeIds.map((id) => id.replaceAll('-', ''));
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 80 }),
    fc.stringMatching(/^E[0-9A-Za-z]{31}$/),
    fc.constantFrom(...txids, '', 'E'.repeat(65), '1.00', '99999999999.99', 'DEVOLVIDO'),
  );
  const value = fc.oneof(text, fc.jsonValue({ maxDepth: 2 }));
  const name = fc.constantFrom('endToEndId', 'txid', 'valor', 'chave', 'horario', 'tipo', 'status');
  const item = fc
    .tuple(
      fc.dictionary(fc.oneof({ weight: 5, arbitrary: name }, fc.string()), value),
      fc.record(
        {
          txid: fc.constantFrom(...txids),
          devolucoes: fc.array(fc.dictionary(fc.string(), value), { maxLength: 2 }),
          gnExtras: fc.dictionary(fc.constantFrom('idEnvio', 'tarifa', 'x'), value),
        },
        { requiredKeys: [] },
      ),
    )
    .map(([free, known]) => ({ ...free, ...known }));
  const listed = fc.array(item, { maxLength: 4 }).map((pix) => JSON.stringify({ pix }));
  return fc.oneof(
    { weight: 6, arbitrary: listed },
    { weight: 2, arbitrary: item.map((one) => JSON.stringify(one)) },
    { weight: 1, arbitrary: fc.jsonValue().map((one) => JSON.stringify(one)) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
    { weight: 1, arbitrary: listed.map((body) => body.slice(0, -1)) },
  );
}

async function post(url: string, body: string): Promise<{ status: number; body: Json }> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body });
  const text = await response.text();
  return { status: response.status, body: text ? JSON.parse(text) : null };
}

type Made = { merchant: Merchant; chargeId: string };

async function aPendingCharge(): Promise<Made> {
  const merchant = await aMerchant();
  const { id } = await createChargeStubbornly(merchant, { amount: AMOUNT_CENTS });
  return { merchant, chargeId: id };
}

/** What was announced before it has been dealt with once this is paid: news are read in their order. */
async function settleARealCharge(): Promise<Made> {
  const made = await aPendingCharge();
  await acquirer.pay(made.chargeId);
  await waitUntilPaid(made.merchant, made.chargeId, SETTLED_MS_MAX);
  return made;
}

/** A Pix whose own notice is lost. */
async function payUnannounced(merchant: Merchant, chargeId: string): Promise<string> {
  const faults = await simulator.addFaults(merchant, [{ operation: 'callback', fault: 'drop' }]);
  const paid = await acquirer.pay(chargeId);
  await faults.remove();
  return paid.body.end_to_end_id;
}

function anEndToEndId(): string {
  return `E12345678202611211200${randomUUID().replaceAll('-', '').slice(0, 11)}`;
}

function only(available: number): object {
  return { available, pending: 0, held: 0, blocked: 0, suspense: 0 };
}
