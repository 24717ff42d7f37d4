import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { aCharge, startTestSimulator, type TestSimulator } from '#test/test-simulator.ts';

type Entry = {
  sequence: number;
  kind: string;
  txid: string;
  amount: number;
  end_to_end_id: string;
};

let database: TestDatabase;
let simulator: TestSimulator;
let acquirer: Acquirer;

beforeAll(async () => {
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url);
  acquirer = simulator.client();
});

afterAll(async () => {
  await simulator[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function issue(change: Parameters<typeof aCharge>[0] = {}): Promise<string> {
  const charge = aCharge(change);
  await acquirer.issueCharge(charge);
  return charge.txid;
}

async function pay(txid: string, body?: object) {
  const path = `/control/charges/${txid}/pay`;
  return await simulator.call('POST', path, body);
}

async function paidEntries(txid: string): Promise<Entry[]> {
  const { body } = await simulator.call('GET', '/control/journal');
  return (body['data'] as Entry[]).filter((entry) => entry.txid === txid && entry.kind === 'paid');
}

describe('pay', () => {
  it('takes the charge as its id with hyphens, without any body', async () => {
    const txid = await issue();
    const id = txid.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    expect(await pay(id)).toMatchObject({
      status: 200,
      body: { txid, amount: 1_000, repeated: false, notices: 0 },
    });
  });

  it('is one Pix per end-to-end id, however often and at once it is called', async () => {
    const txid = await issue();
    const end_to_end_id = `E12345678202603040506${'x'.repeat(11)}`;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => pay(txid, { end_to_end_id, amount: 700 })),
    );
    expect(answers.filter(({ body }) => body['repeated'] === false)).toHaveLength(1);
    expect(await paidEntries(txid)).toMatchObject([{ end_to_end_id, amount: 700 }]);
  });

  it('refuses an end-to-end id of another charge', async () => {
    const [one, other] = [await issue(), await issue()];
    const { body } = await pay(one);
    const answer = await pay(other, { end_to_end_id: body['end_to_end_id'] });
    expect(answer).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    expect(await paidEntries(other)).toEqual([]);
  });

  it('a second time is a second Pix, also for another amount', async () => {
    const txid = await issue();
    await pay(txid);
    await pay(txid, { amount: 1 });
    expect(await paidEntries(txid)).toMatchObject([{ amount: 1_000 }, { amount: 1 }]);
  });

  it('reaches a removed charge, which stays removed', async () => {
    const txid = await issue();
    await acquirer.cancelCharge(txid);
    expect((await pay(txid)).status).toBe(200);
    expect(await acquirer.getCharge(txid)).toMatchObject({
      value: { status: 'removed_by_receiver', received: [{ amountCents: 1_000n }] },
    });
  });

  it('refuses an expired charge, which stays active, until its time is given', async () => {
    const txid = await issue({ expiresInSeconds: 1 });
    const found = await acquirer.getCharge(txid);
    await eventually(async () => {
      const rows = await database.db.query<{ over: boolean }>(
        sql`select created_at + interval '1 second' <= now() as over from charges where txid = ${txid}`,
      );
      expect(rows[0]?.over).toBe(true);
    });
    expect(await pay(txid)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    expect(await acquirer.getCharge(txid)).toEqual(found);
    const paid_at = '2027-01-01T00:00:00.000Z';
    expect(await pay(txid, { paid_at })).toMatchObject({ status: 200, body: { paid_at } });
    expect(await acquirer.getCharge(txid)).toMatchObject({ value: { status: 'settled' } });
  });

  it('answers 404 for a charge that was never issued', async () => {
    expect(await pay(aCharge().txid)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
  });

  it.each([
    ['amount', { amount: 0 }],
    ['amount', { amount: 10.5 }],
    ['amount', { amount: '10.00' }],
    ['end_to_end_id', { end_to_end_id: '' }],
    ['paid_at', { paid_at: 'now' }],
    ['times', { times: 0 }],
    ['times', { times: 1_000 }],
  ])('names %s in %j as wrong', async (name, body) => {
    expect(await pay(await issue(), body)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR', details: [name] },
    });
  });
});

describe('the journal', () => {
  it('can be read on from any number without missing what is written meanwhile', async () => {
    const written = Promise.all(Array.from({ length: 60 }, () => issue()));
    const seen: number[] = [];
    const txids = new Set<string>();
    const expected = written.then((all) => new Set(all));
    await eventually(async () => {
      const after = seen.at(-1) ?? 0;
      const { body } = await simulator.call('GET', `/control/journal?after=${after}&limit=50`);
      for (const entry of body['data'] as Entry[]) {
        seen.push(entry.sequence);
        txids.add(entry.txid);
      }
      expect([...(await expected)].filter((txid) => !txids.has(txid))).toEqual([]);
    });
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('cannot be changed by the service itself', async () => {
    const change = database.db.query(sql`delete from journal`);
    await expect(change).rejects.toThrow('permission denied');
  });

  it('says whether there is more', async () => {
    await Promise.all([issue(), issue()]);
    const { body } = await simulator.call('GET', '/control/journal?limit=1');
    expect(body).toMatchObject({ object: 'list', data: [{ id_envio: null }], has_more: true });
  });
});

describe('the other calls of the control API', () => {
  it('show the fault script with what remains of its counts, also after a restart', async () => {
    const rules = [{ operation: 'issueCharge', fault: 'error_before', count: 3 }];
    expect((await simulator.call('PUT', '/control/faults', { seed: 'x', rules })).status).toBe(200);
    expect((await acquirer.issueCharge(aCharge())).kind).toBe('unknown');
    await using second = await startTestSimulator(database.url);
    const left = { seed: 'x', rules: [{ ...rules[0], count: 2 }] };
    expect((await second.call('GET', '/control/faults')).body).toEqual(left);
    expect((await simulator.call('DELETE', '/control/faults')).status).toBe(204);
    expect(await acquirer.issueCharge(aCharge())).toMatchObject({ kind: 'issued' });
  });

  it('refuse a script with a misspelt rule and keep the old one', async () => {
    const rules = [{ operation: 'issueCharges', fault: 'hang' }];
    const answer = await simulator.call('PUT', '/control/faults', { rules });
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR', details: ['rules.0.operation'] },
    });
    expect((await simulator.call('GET', '/control/faults')).body).toMatchObject({ rules: [] });
  });

  it('know two profiles, and keep the chosen one across a restart', async () => {
    const put = (name: string) => simulator.call('PUT', '/control/profile', { name });
    expect(await put('other')).toMatchObject({ status: 400, body: { details: ['name'] } });
    expect(await put('efi')).toEqual({ status: 200, body: { name: 'efi' } });
    await using second = await startTestSimulator(database.url);
    const charge = aCharge({ amountCents: 1_000n });
    await second.client().issueCharge(charge);
    await eventually(async () => expect(await paidEntries(charge.txid)).toHaveLength(1));
    expect(await put('manual')).toEqual({ status: 200, body: { name: 'manual' } });
  });
});

describe('the profile efi', () => {
  it('lets charges of up to ten reais pay themselves, once, and no others', async () => {
    await simulator.call('PUT', '/control/profile', { name: 'efi' });
    const txids = await Promise.all(
      [1n, 1_000n, 1_001n].map((amountCents) => issue({ amountCents })),
    );
    await simulator.call('PUT', '/control/profile', { name: 'manual' });
    const [small, ten, more] = txids as [string, string, string];
    await eventually(async () => {
      expect(await paidEntries(small)).toMatchObject([{ amount: 1 }]);
      expect(await paidEntries(ten)).toMatchObject([{ amount: 1_000 }]);
    });
    expect(await acquirer.getCharge(ten)).toMatchObject({ value: { status: 'settled' } });
    const due = await database.db.query(sql`select from charges where pays_at is not null`);
    expect(due).toEqual([]);
    expect(await paidEntries(more)).toEqual([]);
  });

  it('does not pay a charge that was removed before', async () => {
    await simulator.call('PUT', '/control/profile', { name: 'efi' });
    const txid = await issue({ amountCents: 500n });
    expect(await acquirer.cancelCharge(txid)).toMatchObject({ kind: 'canceled' });
    const next = await issue({ amountCents: 500n });
    await simulator.call('PUT', '/control/profile', { name: 'manual' });
    await eventually(async () => expect(await paidEntries(next)).toHaveLength(1));
    expect(await paidEntries(txid)).toEqual([]);
  });

  it('does not pay a charge that expired while no process was there, and pays the next', async () => {
    const txid = await issue({ expiresInSeconds: 1 });
    await database.db.query(sql`
      update charges
      set created_at = now() - interval '1 minute', pays_at = now()
      where txid = ${txid}`);
    await simulator.call('PUT', '/control/profile', { name: 'efi' });
    const next = await issue({ amountCents: 500n });
    await simulator.call('PUT', '/control/profile', { name: 'manual' });
    await eventually(async () => expect(await paidEntries(next)).toHaveLength(1));
    expect(await paidEntries(txid)).toEqual([]);
    expect(await acquirer.getCharge(txid)).toMatchObject({ value: { status: 'active' } });
  });
});
