import { BookedJournals } from '@pixmesh/contracts/internal/ledger-reads';
import { type AccountId, newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { LedgerCommand } from '#commands/ledger-command.ts';
import { PLATFORM_ACCOUNT_ID } from '#accounts/chart-of-accounts.ts';
import { aLedgerApp, type LedgerApp } from '#test/ledger-app.ts';
import {
  receivedPixCredit,
  suspenseCredit,
  payoutSuspend,
  receivedPixReturn,
  holdRelease,
  holdSettle,
  suspenseResolve,
  receivedPixSuspend,
  holdTake,
} from '#test/ledger-commands.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let ledger: LedgerApp;

beforeAll(async () => {
  database = await createTestDatabase('ledger');
  ledger = await aLedgerApp(database.db);
});
afterAll(async () => {
  await ledger.app.close();
  await ledger.engine.stop();
  await database[Symbol.asyncDispose]();
});

describe('POST /internal/journals/lookup', () => {
  test('answers those that are booked, in one line each', async () => {
    const accountId = newId<AccountId>();
    const credited = receivedPixCredit({ accountId, amount: 1_000 });
    const hold = holdTake({ accountId, amount: 300, fee: 5 });
    const commands = [credited, hold, holdSettle(hold)];
    await submitInTurn(commands);
    const found = await lookUp([newId(), ...commands.map(({ commandId }) => commandId)]);
    expect(found).toEqual(
      commands.map((command, index) => ({
        command_id: command.commandId,
        account_id: accountId,
        kind: ['credit_received_pix', 'take_hold', 'settle_hold'][index],
        resource_id: index === 0 ? credited.chargeId : hold.resourceId,
        amount: [1_000n, 305n, 305n][index],
        created_at: expect.any(String),
      })),
    );
  });

  test('answers a command that moved nothing with nothing moved', async () => {
    const hold = holdTake();
    const release = holdRelease(hold);
    await ledger.engine.submit(release);
    expect(await lookUp([release.commandId])).toMatchObject([{ kind: 'release_hold', amount: 0n }]);
  });

  test.each([
    ['nothing', [], 'command_ids'],
    ['too many', Array.from({ length: 1_001 }, () => newId()), 'command_ids'],
    ['an ill-formed id', ['x'], 'command_ids.0'],
  ])('refuses %s', async (_name, ids, path) => {
    const answer = await ledger.send('POST', '/internal/journals/lookup', { command_ids: ids });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ code: 'VALIDATION_ERROR', details: [path] });
  });
});

describe('GET /internal/journals', () => {
  test('pages through the kinds asked for by time, oldest first, each once', async () => {
    const commands = Array.from({ length: 9 }, (_, at) =>
      at % 3 === 2 ? receivedPixSuspend() : receivedPixCredit(),
    );
    const from = new Date(Date.now() - 1_000).toISOString();
    for (const command of commands) await ledger.engine.submit(command);
    const wanted = commands.filter(({ kind }) => kind === 'received_pix.credit');
    const ids = new Set(wanted.map(({ commandId }) => commandId));
    const seen = await listAll(`kinds=credit_received_pix&created_from=${from}&limit=2`);
    expect(seen.filter((id) => ids.has(id))).toHaveLength(6);
    expect(new Set(seen).size).toBe(seen.length);
    const both = await listAll(`kinds=credit_received_pix,suspend_received_pix&limit=5`);
    expect(commands.every(({ commandId }) => both.includes(commandId))).toBe(true);
  });

  test('lists returns, and what became of suspense', async () => {
    const pix = receivedPixCredit({ amount: 90 });
    const item = receivedPixSuspend({ accountId: pix.accountId, amount: 5 });
    const back = receivedPixReturn({ ...pix, chargeId: pix.chargeId!, amount: 40 });
    const commands = [
      pix,
      item,
      back,
      suspenseResolve(item),
      suspenseCredit(receivedPixSuspend(), pix.accountId),
    ];
    await submitInTurn(commands);
    const seen = await listAll('kinds=return_received_pix,resolve_suspense,credit_suspense');
    expect(seen).toEqual(commands.slice(2).map(({ commandId }) => commandId));
    const body = { command_ids: [back.commandId] };
    const answer = await ledger.send('POST', '/internal/journals/lookup', body);
    expect(answer.json()).toMatchObject({
      data: [{ kind: 'return_received_pix', amount: 40, resource_id: back.chargeId }],
    });
  });

  test('keeps to its bounds in time', async () => {
    const command = receivedPixCredit();
    await ledger.engine.submit(command);
    const past = '2020-01-01T00:00:00Z';
    expect(await listAll(`kinds=credit_received_pix&created_to=${past}`)).toEqual([]);
    expect(await listAll('kinds=credit_received_pix&created_from=2100-01-01')).toEqual([]);
    expect(await listAll(`kinds=credit_received_pix&created_from=${past}`)).toContain(
      command.commandId,
    );
  });

  test.each([
    ['kinds', 'limit=1'],
    ['kinds.0', 'kinds=everything'],
    ['kinds.0', 'kinds=take_hold'],
    ['created_from', 'kinds=settle_hold&created_from=x'],
    ['created_to', 'kinds=settle_hold&created_to=x'],
    ['limit', 'kinds=settle_hold&limit=1001'],
    ['starting_after', 'kinds=settle_hold&starting_after=x'],
    ['starting_after', `kinds=settle_hold&starting_after=${newId()}`],
  ])('names %s in %s', async (path, query) => {
    const answer = await ledger.get(`/internal/journals?${query}`, { accountId: null });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ code: 'VALIDATION_ERROR', details: [path] });
  });
});

describe('GET /internal/suspense', () => {
  type Item = { id: string; account_id: string | null; amount: number };
  const list = async (query = '') => {
    const answer = await ledger.get(`/internal/suspense${query}`, { accountId: null });
    return answer.json<{ object: string; data: Item[]; has_more: boolean }>();
  };

  test('shows items newest first, with the sign they stand with', async () => {
    const received = receivedPixSuspend({ amount: 12, reason: 'late' });
    const left = payoutSuspend({ amount: 34, direction: 'out' });
    const nobodys = receivedPixSuspend({
      accountId: PLATFORM_ACCOUNT_ID,
      chargeId: null,
      reason: 'unowned',
    });
    for (const command of [received, left, nobodys]) await ledger.engine.submit(command);
    const page = await list('?limit=3');
    expect(page.object).toBe('list');
    expect(page.data.map(({ id }) => id).toSorted()).toEqual(
      [received, left, nobodys].map(({ commandId }) => commandId).toSorted(),
    );
    const byId = new Map(page.data.map((item) => [item.id, item]));
    expect(byId.get(received.commandId)).toEqual({
      id: received.commandId,
      object: 'suspense_item',
      account_id: received.accountId,
      end_to_end_id: received.endToEndId,
      charge_id: received.chargeId,
      payout_id: null,
      amount: 12,
      reason: 'late',
      created_at: expect.any(String),
      resolved_at: null,
    });
    expect(byId.get(left.commandId)).toMatchObject({ amount: -34, payout_id: left.payoutId });
    expect(byId.get(nobodys.commandId)).toMatchObject({ account_id: null });
  });

  test('shows one item by its id, and when it was resolved', async () => {
    const item = receivedPixSuspend({ amount: 12, reason: 'late' });
    await ledger.engine.submit(item);
    const path = `/internal/suspense/${item.commandId}`;
    const open = await ledger.get(path, { accountId: null });
    expect(open.json()).toMatchObject({ object: 'suspense_item', amount: 12, resolved_at: null });
    await ledger.engine.submit(suspenseResolve(item));
    const resolved = await ledger.get(
      path.toUpperCase().replace('/INTERNAL/SUSPENSE', '/internal/suspense'),
      {
        accountId: null,
      },
    );
    expect(resolved.json()).toEqual({
      ...open.json<object>(),
      resolved_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    for (const id of [newId(), 'x']) {
      const answer = await ledger.get(`/internal/suspense/${id}`, { accountId: null });
      expect(answer.statusCode).toBe(404);
    }
  });

  test('pages without repeating an item, and knows its end', async () => {
    const commands = Array.from({ length: 5 }, () => receivedPixSuspend());
    await Promise.all(commands.map((command) => ledger.engine.submit(command)));
    const seen: string[] = [];
    let after = '';
    for (let more = true; more;) {
      const page = await list(`?limit=2${after}`);
      seen.push(...page.data.map(({ id }) => id));
      after = `&starting_after=${seen.at(-1)}`;
      more = page.has_more;
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(commands.every(({ commandId }) => seen.includes(commandId))).toBe(true);
  });

  test('shows what its filters ask for, and refuses those it does not know', async () => {
    const item = receivedPixSuspend({ amount: 56, reason: 'late' });
    await ledger.engine.submit(item);
    const ofOwner = `?account_id=${item.accountId}`;
    const idsOf = async (query: string) => (await list(query)).data.map(({ id }) => id);
    expect(await idsOf(ofOwner)).toEqual([item.commandId]);
    expect(await idsOf(`${ofOwner}&status=open`)).toEqual([item.commandId]);
    expect(await idsOf(`${ofOwner}&status=resolved`)).toEqual([]);
    expect(await idsOf(`?account_id=${newId()}`)).toEqual([]);
    const answer = await ledger.get('/internal/suspense?account_id=x&status=y', {
      accountId: null,
    });
    expect(answer.json()).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: ['account_id', 'status'],
    });
  });

  test('refuses an unknown cursor', async () => {
    const answer = await ledger.get(`/internal/suspense?starting_after=${newId()}`, {
      accountId: null,
    });
    expect(answer.json()).toMatchObject({ code: 'VALIDATION_ERROR', details: ['starting_after'] });
  });
});

/** Each in a millisecond of its own on the database's clock: those of one have no order. */
async function submitInTurn(commands: readonly LedgerCommand[]): Promise<void> {
  for (const command of commands) {
    await ledger.engine.submit(command);
    await database.db.query(sql`select pg_sleep(0.002)`);
  }
}

async function lookUp(ids: readonly string[]) {
  const answer = await ledger.send('POST', '/internal/journals/lookup', { command_ids: ids });
  expect(answer.statusCode).toBe(200);
  return BookedJournals.parse(answer.json()).data;
}

async function listAll(query: string): Promise<string[]> {
  const seen: string[] = [];
  let after = '';
  for (let more = true; more;) {
    const answer = await ledger.get(`/internal/journals?${query}${after}`, { accountId: null });
    expect(answer.statusCode).toBe(200);
    const page = BookedJournals.parse(answer.json());
    seen.push(...page.data.map(({ command_id }) => command_id));
    after = `&starting_after=${seen.at(-1)}`;
    more = page.has_more;
  }
  return seen;
}
