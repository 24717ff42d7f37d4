import { randomUUID } from 'node:crypto';
import { z } from 'zod';

import { equal, holds, oneOf, shaped } from '../client/expectations.ts';
import { Charge, CHARGE_STATUSES, pageOf, PAYOUT_STATUSES } from '../client/schemas.ts';
import { delivered, it, section, staged } from '../suite/case.ts';
import { bodyWith } from '../world/api-client.ts';
import { CREATED_EVENTS } from '../world/endpoint-deliveries.ts';
import {
  bareCharge,
  barePayout,
  canceledPayout,
  completedPayout,
  deliveredCharge,
  failedPayout,
  fullCharge,
  manualMerchant,
  paidCharge,
  refusedCharge,
} from '../world/fixtures.ts';
import { aCustomer } from '../world/merchant.ts';
import { refused } from '../world/refusals.ts';
import { until } from '../world/until.ts';
import { shared, type World } from '../world/world.ts';
import { CHARGE_END_CASES } from './charge-ends.ts';

const EXPIRES_IN_SECONDS_MIN = 60;
/** Seconds, on a machine with other work to do. */
const PROCESSING_MS_MAX = 45_000;
const EXPIRY_MS_MAX = 80_000;

export const CHARGE_STATUS_CASES = section('charge-status', [
  it('values', 'Values: nine words, of which every charge has one', async (w) => {
    for (const status of CHARGE_STATUSES) {
      bodyWith(await w.own.call(`GET /v1/charges?status=${status}`), 200);
    }
    oneOf((await bareCharge(w)).status, CHARGE_STATUSES, 'status');
  }),
  it.simulator('processing', '`processing`: stored, waiting for the acquirer', async (w) => {
    const beside = await unansweredCharge(w);
    equal(beside.status, 'processing', 'status while the acquirer does not answer');
    equal(beside.pix.br_code, null, 'no Pix yet');
  }),
  it.simulator('processing-short', '`processing` lasts seconds', async (w) => {
    const { id } = await unansweredCharge(w);
    await w.own.charges.until(id, 'pending', PROCESSING_MS_MAX);
  }),
  it.simulator('failed', '`failed`: acquirer refused issuance; `failure_reason`', async (w) => {
    const charge = await readRefused(w);
    equal(charge.status, 'failed', 'status');
    holds(Boolean(charge.failure_reason), 'a reason', charge.failure_reason);
  }),
  it.simulator(
    'refused-answer',
    'refused: `422` `ACQUIRER_REJECTED` with `charge_id`',
    async (w) => {
      const { answer } = await refusedCharge(w);
      const { charge_id } = refused(answer, 'ACQUIRER_REJECTED');
      holds(charge_id !== undefined, 'charge_id', answer.text);
    },
  ),
  it.simulator(
    'refused-repeated',
    'the same Idempotency-Key returns this failed charge',
    async (w) => {
      const { key, body } = await refusedCharge(w);
      const { id, status } = await w.own.charges.create(body, key);
      equal([id, status], [(await readRefused(w)).id, 'failed'], 'id and status');
    },
  ),
  it.simulator(
    'refused-exists',
    'Even a refused charge exists: stored before the call',
    async (w) => {
      const body = bodyWith(await w.own.call('GET /v1/charges?status=failed'), 200);
      const { id } = await readRefused(w);
      holds(JSON.stringify(body).includes(id), 'it is in the list of failed charges', id);
    },
  ),
  it('pending', '`pending`: created, waiting for payment', async (w) =>
    equal((await bareCharge(w)).status, 'pending', 'status in the 201'),
  ),
  it(
    'pending-after-the-pix',
    'The 201 is returned after the acquirer returned the Pix',
    async (w) => {
      const { charge } = await fullCharge(w);
      equal(charge.status, 'pending', 'status');
      holds(Boolean(charge.pix.br_code), 'the Pix is there', charge.pix.br_code);
    },
  ),
  it.simulator('paid', '`paid`: paid and confirmed by the acquirer', async (w) => {
    const { status, paid_at } = await paidCharge(w);
    equal(status, 'paid', 'status');
    holds(paid_at !== null, 'paid_at', paid_at);
  }),
  delivered(
    'created-and-emitted',
    'to `pending`: `created` and `emitted` are emitted',
    async (w) => {
      const { deliveries } = await deliveredCharge(w);
      for (const event of CREATED_EVENTS) {
        equal(deliveries.get(event)?.envelope.data['status'], 'pending', event);
      }
    },
  ),
  it.patience('expired', '`expired`: `expires_at` passed without payment', async (w) => {
    const charge = await expiredCharge(w);
    holds(Date.parse(charge.expires_at ?? '') < Date.now() + 1_000, 'it passed', charge);
    equal(charge.paid_at, null, 'paid_at');
  }),
  it.patience(
    'expired-derived',
    'read after `expires_at`: `expired` (derived, no sweep job)',
    async (w) =>
      equal((await w.own.charges.read((await expiredCharge(w)).id)).status, 'expired', 'status'),
  ),
  it.patience('expired-listed', 'the list derives `expired` too, and filters by it', async (w) => {
    const { id } = await expiredCharge(w);
    const body = bodyWith(await w.own.call('GET /v1/charges?status=expired&limit=100'), 200);
    holds(JSON.stringify(body).includes(id), 'it is in the list', id);
  }),
  ...CHARGE_END_CASES,
  it.simulator('paid-stays', 'a paid charge does not become `expired` or `pending`', async (w) =>
    equal((await w.own.charges.read((await paidCharge(w)).id)).status, 'paid', 'status'),
  ),
]);

/** A charge whose issuance the acquirer leaves unanswered, read while that lasts. */
const unansweredCharge = shared(async (w) => {
  const reference = `unanswered-${randomUUID()}`;
  const customer = aCustomer();
  const only = { debtor: customer.name };
  const hang = { operation: 'issueCharge', fault: 'hang', count: 1, only };
  return await w.simulator.withFault(hang, async () => {
    const asked = w.own.charges.post({ customer, reference }).catch(() => null);
    const beside = await until(async () => {
      const { data } = await w.own.read('/charges?status=processing', pageOf(z.unknown()));
      const found = data.find((one) => (one as Charge).reference === reference);
      return shaped(Charge, found, 'the charge that waits');
    });
    await asked;
    return beside;
  });
});

async function readRefused(w: World): Promise<Charge> {
  const { answer } = await refusedCharge(w);
  const { charge_id } = refused(answer, 'ACQUIRER_REJECTED');
  return await w.own.charges.read(charge_id ?? '');
}

const expiredCharge = shared(async (w) => {
  const { id } = await w.own.charges.create({ expires_in: EXPIRES_IN_SECONDS_MIN });
  return await w.own.charges.until(id, 'expired', EXPIRY_MS_MAX);
});

export const PAYOUT_STATUS_CASES = section('payout-status', [
  it('values', 'Values: five words, of which every payout has one', async (w) => {
    for (const status of PAYOUT_STATUSES) {
      bodyWith(await w.own.call(`GET /v1/payouts?status=${status}`), 200);
    }
  }),
  staged('pending', '`pending`: awaiting manual approval when auto payout is off', async (w) => {
    const merchant = await manualMerchant(w);
    equal((await merchant.payouts.create()).status, 'pending', 'status in the 201');
  }),
  staged(
    'pending-stays',
    'a long stay in `pending` is normal: it waits in the queue',
    async (w) => {
      const merchant = await manualMerchant(w);
      const { id, processed_at } = await merchant.payouts.create();
      equal(processed_at, null, 'processed_at');
      equal((await merchant.payouts.read(id)).status, 'pending', 'status');
      const queue = await w.admin.call('GET /admin/payouts?status=pending&limit=100');
      holds(JSON.stringify(queue).includes(id), 'it is in the queue of the dashboard', id);
    },
  ),
  staged('approved', 'after manual approval it is sent and settles', async (w) => {
    const merchant = await manualMerchant(w);
    const { id } = await merchant.payouts.create();
    await w.admin.approvePayout(id);
    await merchant.payouts.until(id, 'completed');
  }),
  staged('canceled', '`canceled`: canceled before sending', async (w) => {
    const { ended } = await canceledPayout(w);
    equal([ended.status, ended.processed_at], ['canceled', null], 'status and processed_at');
  }),
  staged('canceled-returns', '`canceled`: amount returns to balance', async (w) => {
    const { before, after } = await canceledPayout(w);
    equal(after.available, before.available, 'available');
  }),
  staged('manual-leaves', 'amount plus fee leave the balance at creation (manual)', async (w) => {
    const { before, during, created } = await canceledPayout(w);
    equal(before.available - during.available, created.amount + created.fee, 'what left');
  }),
  it.funds('auto', 'auto payout on: `processing`, already in the 201 response', async (w) =>
    equal((await barePayout(w)).status, 'processing', 'status in the 201'),
  ),
  it.funds('sent-right-after', 'auto payout on: sent right after, no intervention', async (w) => {
    const { processed_at } = await completedPayout(w);
    holds(processed_at !== null, 'processed_at', processed_at);
  }),
  it.funds('completed', '`completed`: money delivered', async (w) =>
    equal((await completedPayout(w)).status, 'completed', 'status'),
  ),
  it.funds('completed-e2e', 'settlement, success: `end_to_end_id` filled', async (w) => {
    const { end_to_end_id } = await completedPayout(w);
    holds(Boolean(end_to_end_id), 'filled', end_to_end_id);
  }),
  it.simulator.admin(
    'processing',
    '`processing`: sent to the acquirer, awaiting settlement',
    async (w) => equal((await failedPayout(w)).created.status, 'processing', 'status'),
  ),
  it.simulator.admin(
    'auto-leaves',
    'amount plus fee leave the balance at creation (auto)',
    async (w) => {
      const { before, during, created } = await failedPayout(w);
      equal(before.available - during.available, created.amount + created.fee, 'what left');
    },
  ),
  it.simulator.admin('failed', '`failed`: refused or failed', async (w) =>
    equal((await failedPayout(w)).ended.status, 'failed', 'status'),
  ),
  it.simulator.admin('failed-reason', '`failed`: `failure_reason` filled', async (w) => {
    const { failure_reason } = (await failedPayout(w)).ended;
    holds(Boolean(failure_reason), 'a reason', failure_reason);
  }),
  it.simulator.admin('failed-returns', '`failed`: amount returns to balance', async (w) => {
    const { before, after } = await failedPayout(w);
    equal(after.available, before.available, 'available');
  }),
]);
