import { randomUUID } from 'node:crypto';

import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import {
  aCharge,
  aSend,
  receiveCallbacks,
  startTestSimulator,
  TEST_ACCOUNT,
  type TestSimulator,
} from '#test/test-simulator.ts';

import type { State } from './state.ts';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let database: TestDatabase;
let simulator: TestSimulator;

beforeEach(async () => {
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url);
});

afterEach(async () => {
  await simulator[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function readState(): Promise<State> {
  const { status, body } = await simulator.call('GET', '/control/state');
  expect(status).toBe(200);
  return body as unknown as State;
}

async function readPage(): Promise<string> {
  const answer = await fetch(`${simulator.url}/`);
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
  return await answer.text();
}

describe('the state', () => {
  it('is empty in the beginning', async () => {
    expect(await readState()).toEqual({
      clock: { now: expect.stringMatching(ISO), offset_seconds: 0 },
      profile: 'manual',
      faults: { seed: 0, rules: [] },
      pix_key: TEST_ACCOUNT.pixKey,
      balance: 0,
      webhook_url: null,
      charges: [],
      pix: [],
      sends: [],
      disputes: [],
      callbacks: [],
    });
  });

  it('shows charges, money, orders, disputes and what waits to be announced', async () => {
    await simulator.call('PUT', '/receiver/behaviour/callbacks/pix', { status: 500 });
    await receiveCallbacks(simulator);
    const { txid } = aCharge();
    await simulator.client().issueCharge(aCharge({ txid }));
    const { body: paid } = await simulator.call('POST', `/control/charges/${txid}/pay`);
    const endToEndId = paid['end_to_end_id'] as string;
    await simulator.call('POST', `/control/pix/${endToEndId}/returns`, { amount: 300 });
    await simulator.call('POST', '/control/disputes', { end_to_end_id: endToEndId, amount: 200 });
    const send = aSend();
    await simulator.client().sendPayout(send);
    const state = await readState();
    expect(state).toMatchObject({
      webhook_url: `${simulator.receiverUrl}/callbacks`,
      charges: [{ txid, status: 'CONCLUIDA', expired: false, amount: 1000, paid: 1000 }],
      pix: [
        {
          end_to_end_id: endToEndId,
          txid,
          own: true,
          amount: 1000,
          returns: [{ amount: 300, natureza: 'ORIGINAL' }],
        },
      ],
      disputes: [{ end_to_end_id: endToEndId, amount: 200, status: 'ABERTA', decided_at: null }],
      sends: [{ id_envio: send.idEnvio, amount: 1000, returns: [] }],
    });
    expect(state.callbacks.length).toBeGreaterThan(0);
    expect(state.charges[0]?.expires_at).toMatch(ISO);
    expect(state.pix[0]?.paid_at).toMatch(ISO);
    const page = await readPage();
    for (const id of [txid, endToEndId, send.idEnvio]) expect(page).toContain(id);
  });

  it('holds the newest fifty of each', async () => {
    await database.db.query(sql`
      insert into charges (txid, amount, pix_key, expires_in_seconds, location, br_code)
      select 'charge' || n, 1000, 'key', 3600, 'location', 'code'
      from generate_series(1, 120) as n`);
    const { charges } = await readState();
    expect(charges.map(({ txid }) => txid)).toEqual(
      Array.from({ length: 50 }, (_, index) => `charge${120 - index}`),
    );
  });
});

describe('the page', () => {
  it('allows nothing but its own two files', async () => {
    for (const path of ['/', '/page/page.js', '/page/page.css']) {
      const answer = await fetch(`${simulator.url}${path}`);
      await answer.text();
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-security-policy')).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
          "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    }
    expect(await readPage()).not.toMatch(/\son\w+=|<script>|style=/);
  });

  it('writes what others have sent as text', async () => {
    const reason = '<img src=x onerror=alert(1)>';
    const endToEndId = `E${randomUUID()}"><script>alert(1)</script>`;
    await database.db.query(sql`
      with pix as (
        insert into received_pix (end_to_end_id, txid, pix_key, amount, paid_at)
        values (${endToEndId}, '</td>', '<b>', 100, now())
        returning end_to_end_id
      )
      insert into callbacks (pix_key, body, next_attempt_at)
      select 'key', ${JSON.stringify({ pix: [{ reason }] })}, null
      from pix`);
    const page = await readPage();
    expect(page).not.toContain('<script>alert');
    expect(page).not.toContain('<img');
    expect(page).not.toContain('<b>');
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  });
});

describe('a time that nobody can show', () => {
  it.each(['0000-01-01T00:00:00Z', '9999-12-31T23:59:59-01:00'])(
    'is refused where it is named, and harms nothing: %s',
    async (time) => {
      const { txid } = aCharge();
      await simulator.client().issueCharge(aCharge({ txid }));
      const paid = await simulator.call('POST', `/control/charges/${txid}/pay`);
      const of = { end_to_end_id: paid.body['end_to_end_id'] };
      for (const [path, field, body] of [
        [`/control/charges/${txid}/pay`, 'paid_at', {}],
        ['/control/pix', 'paid_at', { amount: 1 }],
        ['/control/sends', 'requested_at', { amount: 1 }],
        ['/control/disputes', 'opened_at', of],
      ] as const) {
        const answer = await simulator.call('POST', path, { ...body, [field]: time });
        expect(answer).toMatchObject({
          status: 400,
          body: { code: 'VALIDATION_ERROR', details: [field] },
        });
      }
      const state = await readState();
      expect([state.pix.length, state.sends, state.disputes]).toEqual([1, [], []]);
      await readPage();
    },
  );

  it('is shown as it is kept, where an older simulator took it', async () => {
    await database.db.query(sql`
      insert into received_pix (end_to_end_id, pix_key, amount, paid_at)
      values ('E1', 'key', 100, '0001-01-01 00:00:00+00 BC')`);
    const { pix } = await readState();
    expect(pix[0]?.paid_at).toMatch(/BC$/);
    expect(await readPage()).toContain('BC');
  });
});
