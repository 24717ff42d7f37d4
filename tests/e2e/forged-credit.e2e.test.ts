import { randomUUID } from 'node:crypto';

import {
  ReceivedPixCredit,
  ReceivedPixReturn,
} from '@pixmesh/contracts/messages/ledger-command.v1';
import { TOPICS } from '@pixmesh/contracts/topics';
import { deriveCommandId, newId } from '@pixmesh/kernel/ids';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { leaveBreak } from './find-breaks.ts';
import { admin, adminBody, availableOf, type Json, type Merchant, stack } from './mesh.ts';
import {
  aPayingMerchant,
  anOperator,
  createPayout,
  readPayout,
  sendsOf,
  waitForPayout,
} from './payout-calls.ts';

const FORGED_CENTS = 500_000;
/** Payouts reads what reconciliation has found every 5 s. */
const STOPPED_MS_MAX = 60_000;

let db: Database;
beforeAll(() => {
  db = createPool({ url: stack().postgres_url, applicationName: 'forged-credit', max: 1 });
});
afterAll(() => db[Symbol.asyncDispose]());

/** Writes a command to the ledger's topic as charges would: by the relay of its outbox. */
async function writeAsCharges(
  { accountId }: Merchant,
  type: string,
  data: { command_id: string } & Record<string, unknown>,
): Promise<void> {
  const eventId = newId();
  const occurred_at = new Date().toISOString();
  const envelope = { event_id: eventId, type, version: 1, occurred_at, account_id: accountId };
  const message = JSON.stringify({ ...envelope, application_id: null, data });
  await db.query(sql`
    with written as (
      insert into charges.events (event_id, topic, key, type, message)
      values (${eventId}, ${TOPICS.ledgerCommands}, ${accountId}, ${type}, ${message}::json)
    )
    insert into charges.outbox (event_id) values (${eventId})`);
}

async function stopsInForce({ accountId }: Merchant): Promise<Json[]> {
  const query = `account_id=${accountId}&status=in_force`;
  return (await adminBody('GET', `/admin/payouts/stops?${query}`)).data;
}

async function readMetric(name: string): Promise<number> {
  const text = await (await fetch(`${stack().internal_urls['payouts']}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${name}{cause="reconciliation"`));
  return Number(line?.split(' ').at(-1));
}

test(
  'a forged credit stops payouts of its account within one reconciliation, and nothing of it is sent before an operator resumes',
  { timeout: 240_000 },
  async () => {
    const merchant = await aPayingMerchant(10_000);
    const other = await aPayingMerchant(10_000);
    const endToEndId = `E00000000202611210000${randomUUID().replaceAll('-', '').slice(0, 11)}`;
    const commandId = deriveCommandId('received_pix', endToEndId);
    const pix = { end_to_end_id: endToEndId, amount: FORGED_CENTS };
    // The journal stays wrong for ever; what was seen once does not stop again (`tests/e2e/end`).
    leaveBreak(commandId);
    await writeAsCharges(merchant, ReceivedPixCredit.type, {
      command_id: commandId,
      ...pix,
      charge_id: null,
      release_at: null,
    });
    await eventually(async () => {
      expect(await availableOf(merchant)).toBe(10_000 + FORGED_CENTS);
    }, STOPPED_MS_MAX);

    await adminBody('POST', '/admin/reconciliation');
    const [stop] = await eventually(async () => {
      const stops = await stopsInForce(merchant);
      expect(stops).toHaveLength(1);
      return stops;
    }, STOPPED_MS_MAX);
    expect(stop).toMatchObject({
      set_by: 'reconciliation',
      reason: `reconciliation of charges: received missing_left ${commandId}`,
    });
    expect(await readMetric('payouts_stopped')).toBeGreaterThanOrEqual(1);

    const [waiting, approved] = [await createPayout(merchant), await createPayout(merchant)];
    expect([waiting.status, waiting.body.status, approved.body.status]).toEqual([
      201,
      'pending',
      'pending',
    ]);
    const shown = await adminBody('GET', `/admin/payouts/${waiting.body.id}`);
    expect(shown.pending_reason).toBe(`payouts stopped: ${stop.reason}`);
    const operator = await anOperator();
    const approval = await operator.call('POST', `/admin/payouts/${approved.body.id}/approve`);
    expect([approval.status, approval.body.status]).toEqual([200, 'processing']);

    // Payouts of others go on all the while, and those of this account do not.
    const free = await createPayout(other);
    await waitForPayout(other, free.body.id, 'completed');
    expect((await readPayout(merchant, approved.body.id)).status).toBe('processing');
    expect([await sendsOf(waiting.body.id), await sendsOf(approved.body.id)]).toEqual([[], []]);

    // The operator takes the money back, cancels what nobody wants, and has the rest go on.
    await writeAsCharges(merchant, ReceivedPixReturn.type, {
      command_id: newId(),
      ...pix,
      charge_id: newId(),
      return_id: 'D-forged',
    });
    const canceled = await admin('POST', `/admin/payouts/${waiting.body.id}/cancel`);
    expect(canceled.status).toBe(200);
    const resumed = await operator.call('POST', '/admin/payouts/resume', {
      account_id: merchant.accountId,
    });
    expect([resumed.status, resumed.body.ended_by]).toEqual([200, operator.id]);
    await waitForPayout(merchant, approved.body.id, 'completed');
  },
);
