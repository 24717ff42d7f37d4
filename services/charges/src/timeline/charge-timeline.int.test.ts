import { receivedPixCommandId } from '@pixmesh/contracts/internal/ledger-command-ids';
import { OwnedTimeline } from '@pixmesh/contracts/internal/timeline';
import { TOPICS } from '@pixmesh/contracts/topics';
import { newId, toAcquirerId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { Json } from '#test/charges-under-test.ts';
import { type RefundsUnderTest, startRefundsUnderTest } from '#test/refunds-under-test.ts';

let charges: RefundsUnderTest;
beforeAll(async () => {
  charges = await startRefundsUnderTest({
    DISPUTE_LIST_MS: '200',
  });
});
afterAll(async () => {
  await charges[Symbol.asyncDispose]();
});

const PATIENCE_MS = 20_000;

const pathOf = (id: string) => `GET /internal/charges/${id}/timeline`;

async function timelineOf(id: string): Promise<OwnedTimeline> {
  const answer = await charges.request(null, pathOf(id));
  expect([answer.status, JSON.stringify(answer.body)]).toEqual([200, expect.any(String)]);
  const timeline = OwnedTimeline.parse(answer.body);
  expect(timeline).toEqual(answer.body);
  expect(timeline.truncated).toBe(false);
  const times = timeline.entries.map(({ at }) => at);
  expect(times).toEqual(times.toSorted());
  return timeline;
}

/** Every command that was ever sent for the money of an account, or for a Pix. */
async function sentCommands(accountId: string, endToEndId: string): Promise<string[]> {
  const rows = await charges.db.query<{ id: string }>(sql`
    select message->'data'->>'command_id' as id
    from events
    where topic = ${TOPICS.ledgerCommands}
      and (key = ${accountId} or message->'data'->>'end_to_end_id' = ${endToEndId})`);
  return rows.map(({ id }) => id);
}

async function waitForStatus(id: string, status: string): Promise<void> {
  await eventually(async () => expect((await charges.charge(id)).status).toBe(status), PATIENCE_MS);
}

const stepsOf = ({ entries }: OwnedTimeline) => entries.map(({ kind, what }) => `${kind} ${what}`);

const causesOf = ({ entries }: OwnedTimeline) => entries.map(({ details }) => details['cause']);

test('the timeline of a charge that was paid, refunded in part and disputed shows every step once, causes before effects', async () => {
  const other = await charges.aPaidCharge();
  const { id, accountId, endToEndId } = await charges.aPaidCharge();
  const refund = await charges.refund(id, { amount: 500 });
  await charges.ended(refund.id);
  const dispute: Json = await charges.simulator.control('POST', '/control/disputes', {
    end_to_end_id: endToEndId,
    reason: 'scam',
  });
  await waitForStatus(id, 'infraction');
  await charges.simulator.control('POST', `/control/disputes/${dispute.id}/decide`, {
    outcome: 'lost',
    returned_amount: 1_000,
  });

  // The return and the decision are recorded apart, in either order.
  const timeline = await eventually(async () => {
    const entries = await timelineOf(id);
    const ends = ['state infraction → charged_back', 'event dispute.pix.lost'];
    expect(stepsOf(entries)).toEqual(expect.arrayContaining(ends));
    expect(causesOf(entries)).toContain('med_return');
    return entries;
  }, PATIENCE_MS);
  const steps = stepsOf(timeline);
  const opened = steps.indexOf('event dispute.pix.opened');
  expect(steps.slice(0, opened + 1)).toEqual([
    'state new → processing',
    'state processing → pending',
    'event charge.pix.created',
    'event charge.pix.emitted',
    'state pending: pix_accepted',
    'state pending → paid',
    'event charge.pix.paid',
    'state refund requested',
    'state refund completed',
    'state paid: refund_completed',
    'state dispute opened',
    'state paid → infraction',
    'event charge.pix.infraction',
    'event dispute.pix.opened',
  ]);
  const pairs = [
    ['state infraction → charged_back', 'event charge.pix.charged_back'],
    ['state dispute lost', 'event dispute.pix.lost'],
  ] as const;
  const end = steps.slice(opened + 1);
  for (const [cause, effect] of pairs) {
    expect(end.filter((step) => step === cause || step === effect)).toEqual([cause, effect]);
  }
  expect(causesOf(timeline).filter((cause) => cause === 'med_return')).toHaveLength(1);
  expect(new Set(timeline.entries.map((step) => step.id + step.what)).size).toBe(steps.length);

  const [disputeId] = (
    await charges.db.query<{ id: string }>(sql`select id from disputes where charge_id = ${id}`)
  ).map((row) => row.id);
  expect(timeline.resource_ids).toEqual([id, refund.id, disputeId]);
  for (const step of timeline.entries) expect(timeline.resource_ids).toContain(step.resource_id);
  const ofDispute = timeline.entries.filter((step) => step.resource_id === disputeId);
  expect(ofDispute.map(({ what }) => what)).toEqual([
    'dispute opened',
    'dispute.pix.opened',
    'dispute lost',
    'dispute.pix.lost',
  ]);

  const sent = await sentCommands(accountId, endToEndId);
  expect(sent.length).toBeGreaterThanOrEqual(5);
  const hold = (await charges.row(refund.id))?.holdId;
  expect(timeline.command_ids).toEqual(expect.arrayContaining([...sent, hold]));
  for (const foreign of await sentCommands(other.accountId, other.endToEndId)) {
    expect(timeline.command_ids).not.toContain(foreign);
  }
  const text = JSON.stringify(timeline);
  for (const secret of ['Ana', 'ana@example.com', '52998224725'])
    expect(text).not.toContain(secret);
});

test('the ledger finds the journals of everything that moved, released money too, by the commands of a timeline', async () => {
  const caller = aCaller();
  const settings = { ...caller.settings, release_delay_seconds: 1 };
  const id = newId();
  await eventually(async () => {
    const created = await charges.request(
      { ...caller, settings, creation_id: id },
      'POST /v1/charges',
      { amount: 700, customer: { name: 'Ana', email: 'a@b.co', document: '52998224725' } },
    );
    expect(created.body.status).toBe('pending');
  }, PATIENCE_MS);
  await charges.simulator.control('POST', `/control/charges/${toAcquirerId(id)}/pay`, {});
  await charges.announce(id);
  await waitForStatus(id, 'paid');
  await charges.balanceIs(caller.account_id, { available: 700 });
  const { command_ids } = await timelineOf(id);
  const found = (await charges.ledger.ask('POST /internal/journals/lookup', null, {
    command_ids,
  })) as { data: Json[] };
  const kinds = found.data.map(({ kind, amount }) => `${kind} ${amount}`);
  expect(kinds.filter((kind) => !kind.startsWith('book_acquirer_tariff'))).toEqual([
    'credit_received_pix 700',
    'release_pending 700',
  ]);
});

test('money in suspense, returned in part and then accepted, is shown with its commands', async () => {
  const { id, accountId } = await charges.aPendingCharge();
  const pay = `/control/charges/${toAcquirerId(id)}/pay`;
  const { end_to_end_id: pix }: Json = await charges.simulator.control('POST', pay, {
    amount: 900,
  });
  await charges.announce(id);
  const itemId = receivedPixCommandId(pix);
  await eventually(() => charges.ledger.ask(`GET /internal/suspense/${itemId}`, null), PATIENCE_MS);
  const path = `/control/pix/${pix}/returns`;
  await charges.simulator.control('POST', path, { amount: 200, natureza: 'ORIGINAL' });
  await eventually(async () => {
    await charges.announceItem({ endToEndId: pix });
    expect(await sentCommands(accountId, pix)).toHaveLength(2);
  }, PATIENCE_MS);
  const item = { account_id: accountId, end_to_end_id: pix, charge_id: null, amount: 1 };
  const body = { action: 'accept', account_id: null, operator_id: newId(), item };
  const resolved = await charges.request(null, `POST /internal/suspense/${itemId}/resolve`, body);
  expect(resolved.status).toBe(202);
  await charges.balanceIs(accountId, { available: 700 });
  await eventually(async () => {
    expect(stepsOf(await timelineOf(id)).slice(-3)).toEqual([
      'state pending: pix_suspended',
      'state suspense: accept decided',
      'state suspense: accept completed',
    ]);
  }, PATIENCE_MS);
  const { command_ids, resource_ids } = await timelineOf(id);
  expect(resource_ids).toEqual([id]);
  expect(command_ids).toEqual(expect.arrayContaining(await sentCommands(accountId, pix)));
});

test('only the installation is answered, and only for charges that exist', async () => {
  const { id, caller } = await charges.aPendingCharge();
  const tenant = await charges.request(caller, pathOf(id));
  expect([tenant.status, tenant.body.code]).toEqual([401, 'UNAUTHORIZED']);
  for (const unknown of [newId(), 'no-id']) {
    const answer = await charges.request(null, pathOf(unknown));
    expect([answer.status, answer.body.code]).toEqual([404, 'CHARGE_NOT_FOUND']);
  }
});
