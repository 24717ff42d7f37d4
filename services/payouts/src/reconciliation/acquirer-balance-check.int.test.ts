import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { toAcquirerId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { payoutReturnCreditCommandId } from '#payouts/ledger-commands.ts';
import { aReturn } from '#test/an-acquirer-payout.ts';
import { type ComparedSides, startComparedSides } from '#test/compared-sides.ts';
import { storePayout } from '#test/store-payout.ts';

import { acquirerBalanceCheck } from './acquirer-balance-check.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

let sides: ComparedSides;
beforeAll(async () => {
  sides = await startComparedSides();
  await sides.aReceivedPix(100_000n);
});
afterAll(() => sides[Symbol.asyncDispose]());

async function run(changes: Partial<Pick<Acquirer, 'balance' | 'listSent'>> = {}) {
  const check = acquirerBalanceCheck({ ...sides, acquirer: { ...sides.acquirer, ...changes } });
  const scope = { since: null, knownIds: [], signal: new AbortController().signal };
  return (await check.run(scope)).breaks.map(({ amountCents }) => amountCents);
}

test.each(['processing', 'failed'] as const)(
  'a return that is %s has moved no money yet',
  async (status) => {
    const { e2e } = await sides.aCompletedPayout();
    const returns = [aReturn({ status })];
    const listSent: Acquirer['listSent'] = async (page) => {
      const listed = await sides.acquirer.listSent(page);
      if (listed.kind === 'unknown') return listed;
      const items = listed.items.map((send) =>
        send.endToEndId === e2e ? { ...send, returns } : send,
      );
      return { ...listed, items };
    };
    expect(await run({ listSent })).toEqual([]);
  },
);

test('a return that was recorded under another end-to-end id is known to be booked', async () => {
  const { id, e2e } = await sides.aCompletedPayout();
  await sides.simulator.control('POST', `/control/pix/${e2e}/returns`, { amount: 300 });
  const found = await sides.acquirer.getPayout(toAcquirerId(id));
  const [returned] = found.kind === 'found' ? found.value.returns : [];
  const former = 'E-former';
  await sides.db.query(sql`
    insert into payout_returns (end_to_end_id, return_id, payout_id, account_id, amount)
    select ${former}, ${returned!.returnId}, id, account_id, 300 from payouts where id = ${id}`);
  sides.ledger.book(payoutReturnCreditCommandId(former, returned!.returnId!), {
    id,
    amount: 300n,
    clearing: -300n,
  });
  expect(await run()).toEqual([]);
});

test('what is booked is known by the clock of the ledger, whatever ours says', async () => {
  sides.ledger.state.clockAheadMs = MINUTE_MS;
  await sides.aReceivedPix(2_000n);
  expect(await run()).toEqual([]);
});

test('money of a payout that has been on its way for days is explained, and no days are listed for it', async () => {
  const { id } = await storePayout(sides.db, { status: 'processing' });
  const sentAt = new Date(Date.now() - 6 * DAY_MS);
  await sides.db.query(sql`update payouts set first_put_at = ${sentAt} where id = ${id}`);
  await sides.simulator.control('POST', '/control/sends', {
    amount: 1_000,
    id_envio: toAcquirerId(id),
    requested_at: sentAt.toISOString(),
  });
  const listedFrom: Date[] = [];
  const listSent: Acquirer['listSent'] = (page) => {
    listedFrom.push(page.from);
    return sides.acquirer.listSent(page);
  };
  expect(await run({ listSent })).toEqual([]);
  const oldest = Math.min(...listedFrom.map((from) => from.getTime()));
  expect(oldest).toBeGreaterThan(Date.now() - 20 * MINUTE_MS);
});

describe('money that moves while the balance is read', () => {
  const balance: Acquirer['balance'] = async () => {
    const read = await sides.acquirer.balance();
    await sides.aReceivedPix(700n);
    return read;
  };

  test('is no difference', async () => {
    expect(await run({ balance })).toEqual([]);
  });

  test('hides none that the other readings show', async () => {
    await sides.simulator.control('PUT', '/control/balance-adjustment', { amount: 400 });
    let readings = 0;
    const atFirst: Acquirer['balance'] = async () => {
      readings += 1;
      return await (readings > 2 ? sides.acquirer.balance() : balance());
    };
    expect(await run({ balance: atFirst })).toEqual([400n]);
    await sides.simulator.control('PUT', '/control/balance-adjustment', { amount: 0 });
  });

  test('hides no larger one, and the long list is read once for it', async () => {
    await sides.simulator.control('PUT', '/control/balance-adjustment', { amount: 5_000 });
    const widthsMs: number[] = [];
    const listSent: Acquirer['listSent'] = (page) => {
      widthsMs.push(Date.now() - page.from.getTime());
      return sides.acquirer.listSent(page);
    };
    expect(await run({ balance, listSent })).toEqual([4_300n]);
    await sides.simulator.control('PUT', '/control/balance-adjustment', { amount: 0 });
    expect(widthsMs.filter((ms) => ms > 5 * MINUTE_MS)).toHaveLength(1);
    expect(widthsMs.length).toBeGreaterThan(2);
  });
});

test('where too many payouts have been on their way for long, nothing is compared', async () => {
  await sides.db.query(sql`
    insert into payouts (
      id, account_id, source, status, amount, fee, pix_key_type, pix_key, pix_key_canonical, fingerprint, is_automatic,
      hold_id, created_at, first_put_at
    )
    select gen_random_uuid(), gen_random_uuid(), 'api', 'processing', 1, 0, 'email', 'a@b.c', 'a@b.c', '\\x00', true,
      gen_random_uuid(), now(), now() - interval '1 hour'
    from generate_series(1, 200)`);
  await expect(run()).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
});
