import { eventually } from '@pixmesh/testkit/eventually';
import { sampled } from '@pixmesh/testkit/long-runs';
import { describe, expect, test } from 'vitest';

import {
  admin,
  adminBody,
  aMerchant,
  ARRIVAL_MS_MAX,
  createCharge,
  createChargeStubbornly,
  type Json,
  simulator,
  waitUntilPaid,
} from './mesh.ts';
import { aPayingMerchant, COST_CENTS, createPayout, waitForPayout } from './payout-calls.ts';

/** Longer than the services wait for one answer. */
const TOO_LATE_MS = 8_000;

type Silence = { what: string; rule: { fault: string; [field: string]: unknown }; word: string };

/** Faults of one acquirer, and the word by which an operator knows each. */
const SILENCES: Silence[] = [
  { what: 'hangs', rule: { fault: 'hang' }, word: 'timeout' },
  { what: 'resets the connection', rule: { fault: 'reset' }, word: 'connection' },
  { what: 'is down', rule: { fault: 'error_before', status: 503 }, word: 'status_503' },
];
const LATE = {
  what: 'answers late',
  rule: { fault: 'latency', delay_ms: TOO_LATE_MS },
  word: 'timeout',
};
/** It has its effect: of an order it is found by the next check. */
const GARBAGE = { what: 'answers garbage', rule: { fault: 'garbage' }, word: 'unreadable' };

const OF_LOOKUPS = SILENCES.concat(LATE, GARBAGE);

async function check(kind: 'charges' | 'payouts', id: string): Promise<Json> {
  return await adminBody('POST', `/admin/${kind}/${id}/check`);
}

async function show(kind: 'charges' | 'payouts', id: string): Promise<Json> {
  return await adminBody('GET', `/admin/${kind}/${id}`);
}

describe('a charge that is paid at the acquirer and pending here', () => {
  test.each(sampled(OF_LOOKUPS, 1))('because the acquirer $what', async ({ rule, word }) => {
    const merchant = await aMerchant();
    const { id } = await createChargeStubbornly(merchant);
    const faults = await simulator.addFaults(merchant, [
      { operation: 'getCharge', ...rule },
      { operation: 'callback', fault: 'drop' },
    ]);
    await simulator.pay(id);
    const { acquirer, resource } = await check('charges', id);
    expect(acquirer).toMatchObject({ answer: 'none', error: word });
    expect(resource.accepted_end_to_end_id).toBeNull();
    await faults.remove();
    expect(await check('charges', id)).toMatchObject({
      acquirer: { reachable: true, answer: 'found', error: null },
    });
    await waitUntilPaid(merchant, id);
  });

  test('because its callback was lost, is found by a check', async () => {
    const merchant = await aMerchant();
    const { id } = await createChargeStubbornly(merchant);
    await simulator.addFaults(merchant, [{ operation: 'callback', fault: 'drop' }]);
    await simulator.pay(id);
    const { acquirer, resource } = await check('charges', id);
    expect([acquirer.answer, resource.accepted_end_to_end_id]).toEqual([
      'found',
      expect.any(String),
    ]);
    await waitUntilPaid(merchant, id);
  });
});

describe('a charge that stays in processing', () => {
  test('names what the acquirer answered to the call that issues it', async () => {
    const merchant = await aMerchant();
    await simulator.addFaults(merchant, [
      { operation: 'issueCharge', fault: 'error_before', status: 502 },
    ]);
    const { charge_id: id } = (await createCharge(merchant)).body;
    const { acquirer, resource } = await check('charges', id);
    expect(acquirer).toEqual({ reachable: true, answer: 'not_found', error: null });
    expect(resource).toMatchObject({
      status: 'processing',
      issuing: { last_put_error: 'status_502' },
    });
  });

  test('names what the status checks are answered, without one more', async () => {
    const merchant = await aMerchant();
    await simulator.addFaults(merchant, [
      { operation: 'issueCharge', fault: 'error_after', status: 500, count: 1 },
      { operation: 'getCharge', fault: 'error_before', status: 503 },
    ]);
    const { charge_id: id } = (await createCharge(merchant)).body;
    await eventually(async () => {
      expect(await show('charges', id)).toMatchObject({
        issuing: { last_put_error: 'status_500' },
        status_check: { acquirer: { answer: 'none', error: 'status_503' } },
      });
    }, ARRIVAL_MS_MAX);
  });
});

describe('a payout that stays in processing', () => {
  test.each(sampled(SILENCES, 1))('because the acquirer $what', async ({ rule, word }) => {
    const merchant = await aPayingMerchant(COST_CENTS);
    const faults = await simulator.addFaults(merchant, [{ operation: 'sendPayout', ...rule }]);
    const { id } = (await createPayout(merchant)).body;
    await eventually(async () => {
      const { send } = await show('payouts', id);
      expect(send.last_put_error).toBe(word);
    }, ARRIVAL_MS_MAX);
    await faults.remove();
    await waitForPayout(merchant, id, 'completed');
    expect(await show('payouts', id)).toMatchObject({ send: { last_put_error: null } });
  });

  test('because the acquirer has not settled it, is told apart by a check', async () => {
    const merchant = await aPayingMerchant(COST_CENTS);
    await simulator.addFaults(merchant, [{ operation: 'settlePayout', fault: 'hang' }]);
    const { id } = (await createPayout(merchant)).body;
    await eventually(async () => {
      expect((await show('payouts', id)).processed_at).not.toBeNull();
    }, ARRIVAL_MS_MAX);
    expect(await check('payouts', id)).toMatchObject({
      acquirer: { reachable: true, answer: 'found', error: null },
      resource: { status: 'processing' },
    });
  });
});

test('a payout that was refused names the refusal', async () => {
  const merchant = await aPayingMerchant(COST_CENTS);
  await simulator.addFaults(merchant, [
    { operation: 'sendPayout', fault: 'refusal', code: 'pagamento_negado' },
  ]);
  const { id } = (await createPayout(merchant)).body;
  const failed = await waitForPayout(merchant, id, 'failed');
  expect(failed.failure_reason).toMatch(/^pagamento_negado/);
});

test('what an operator had checked is in the audit log', async () => {
  const merchant = await aMerchant();
  const { id } = await createChargeStubbornly(merchant);
  await check('charges', id);
  const { data } = (await admin('GET', `/admin/audit?target_id=${id}`)).body;
  expect(data.map(({ action }: Json) => action)).toEqual([
    'charge.checked',
    'charge.check_requested',
  ]);
});
