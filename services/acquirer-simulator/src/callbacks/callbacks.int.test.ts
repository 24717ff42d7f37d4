import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import {
  aCharge,
  listNotices,
  receiveCallbacks,
  startTestSimulator,
  TEST_ACCOUNT,
  type TestSimulator,
} from '#test/test-simulator.ts';

let database: TestDatabase;
let simulator: TestSimulator;
let acquirer: Acquirer;

beforeEach(async () => {
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url);
  acquirer = simulator.client();
  await receiveCallbacks(simulator);
});

afterEach(async () => {
  await simulator[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function issue(): Promise<string> {
  const charge = aCharge();
  await acquirer.issueCharge(charge);
  return charge.txid;
}

async function pay(txid: string, body: object = {}): Promise<string> {
  const path = `/control/charges/${txid}/pay`;
  const { status, body: paid } = await simulator.call('POST', path, body);
  expect(status).toBe(200);
  return paid['end_to_end_id'] as string;
}

/** End-to-end ids of the notices so far, in the order of their arrival. */
async function announced(): Promise<string[]> {
  const notices = await listNotices(simulator);
  return notices.map(({ body }) => {
    const { pix } = JSON.parse(body) as { pix: { endToEndId: string }[] };
    return pix[0]?.endToEndId ?? '';
  });
}

async function queued(): Promise<number> {
  const rows = await database.db.query(sql`select from callbacks`);
  return rows.length;
}

/** A call of the provider that the mesh's own client does not make. */
async function callProvider(method: string, path: string, body?: object): Promise<Response> {
  const token = await simulator.token();
  return await fetch(`${simulator.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body && { body: JSON.stringify(body) }),
  });
}

describe('a callback', () => {
  it('is posted to {url}/pix as API Pix shows a received Pix', async () => {
    const txid = await issue();
    const endToEndId = await pay(txid, { paid_at: '2026-03-04T05:06:07.089Z' });
    const [notice] = await eventually(async () => {
      const notices = await listNotices(simulator);
      expect(notices).toHaveLength(1);
      return notices;
    });
    expect(JSON.parse(notice?.body ?? '')).toEqual({
      pix: [
        {
          endToEndId,
          txid,
          valor: '10.00',
          chave: TEST_ACCOUNT.pixKey,
          horario: '2026-03-04T05:06:07.089Z',
        },
      ],
    });
    await eventually(async () => expect(await queued()).toBe(0));
  });

  it('is repeated as often as asked, and again for a known end-to-end id', async () => {
    const txid = await issue();
    const endToEndId = await pay(txid, { times: 20 });
    await pay(txid, { end_to_end_id: endToEndId, times: 3 });
    await eventually(async () => expect(await announced()).toHaveLength(23));
    expect(new Set(await announced())).toEqual(new Set([endToEndId]));
  });

  it('is tried again until it is taken', async () => {
    await simulator.call('PUT', '/receiver/behaviour/callbacks/pix', { status: 500, times: 3 });
    await pay(await issue());
    await eventually(async () => {
      const statuses = (await listNotices(simulator)).map((notice) => notice.answered_status);
      expect(statuses).toEqual([500, 500, 500, 200]);
    });
    await eventually(async () => expect(await queued()).toBe(0));
  });

  it('that is redirected is not taken', async () => {
    const behaviour = { redirect: '/elsewhere', times: 1 };
    await simulator.call('PUT', '/receiver/behaviour/callbacks/pix', behaviour);
    await pay(await issue());
    await eventually(async () => {
      const statuses = (await listNotices(simulator)).map((notice) => notice.answered_status);
      expect(statuses).toEqual([302, 200]);
    });
    expect(await listNotices(simulator, '/elsewhere')).toEqual([]);
  });

  it('survives a restart, and goes to the URL that is registered then', async () => {
    await simulator.call('PUT', '/receiver/behaviour/callbacks/pix', { hang: true });
    const endToEndId = await pay(await issue());
    await eventually(async () => expect(await announced()).toEqual([endToEndId]));
    await simulator[Symbol.asyncDispose]();
    simulator = await startTestSimulator(database.url);
    await receiveCallbacks(simulator, '/moved');
    await eventually(async () => {
      expect(await listNotices(simulator, '/moved/pix')).toHaveLength(1);
    });
  });

  it('is not queued where nobody has registered', async () => {
    await using other = await createTestDatabase('acquirer_simulator');
    await using unregistered = await startTestSimulator(other.url);
    const charge = aCharge();
    await unregistered.client().issueCharge(charge);
    const paid = await unregistered.call('POST', `/control/charges/${charge.txid}/pay`, {
      times: 5,
    });
    expect(paid.body).toMatchObject({ notices: 0 });
    const rows = await other.db.query(sql`select from callbacks`);
    expect(rows).toEqual([]);
  });
});

describe('callbacks that are due together', () => {
  /** Notices that could not be delivered until now. */
  async function backlog(pix: number): Promise<string[]> {
    await simulator.call('PUT', '/receiver/behaviour/callbacks/pix', { status: 503 });
    const ids: string[] = [];
    for (let index = 0; index < pix; index += 1) ids.push(await pay(await issue()));
    await acquirer.registerCallback(`${simulator.receiverUrl}/healed`);
    return ids;
  }

  async function healed(): Promise<string[][]> {
    const notices = await listNotices(simulator, '/healed/pix');
    return notices.map(({ body }) => {
      const { pix } = JSON.parse(body) as { pix: { endToEndId: string }[] };
      return pix.map(({ endToEndId }) => endToEndId);
    });
  }

  it('share notices of up to ten Pix, and none is lost', async () => {
    const ids = await backlog(25);
    await database.db.query(sql`update callbacks set next_attempt_at = now() + interval '400 ms'`);
    await eventually(async () => expect(await queued()).toBe(0));
    const notices = await healed();
    expect(new Set(notices.flat())).toEqual(new Set(ids));
    expect(Math.max(...notices.map((notice) => notice.length))).toBeLessThanOrEqual(10);
    expect(notices.length).toBeLessThan(25);
  });

  it('leave a Pix alone that a fault was drawn for', async () => {
    await simulator.call('PUT', '/control/faults', {
      rules: [{ operation: 'callback', fault: 'duplicate', count: 1 }],
    });
    const [faulty] = await backlog(6);
    await database.db.query(sql`update callbacks set next_attempt_at = now() + interval '400 ms'`);
    await eventually(async () => expect(await queued()).toBe(0));
    const notices = await healed();
    const withFaulty = notices.filter((notice) => notice.includes(faulty ?? ''));
    expect(withFaulty).toEqual([[faulty], [faulty]]);
  });
});

describe('callbacks that are asked for again', () => {
  async function resend(tipo: string, e2eids: readonly string[]): Promise<Response> {
    return await callProvider('POST', '/v2/gn/webhook/reenviar', { tipo, e2eids });
  }

  it('are sent again together, for what is known', async () => {
    const ids = [await pay(await issue()), await pay(await issue())];
    // A notice whose answer came too late is sent again, and then to the address of that moment.
    await eventually(async () => expect(await queued()).toBe(0));
    expect(new Set(await announced())).toEqual(new Set(ids));
    await acquirer.registerCallback(`${simulator.receiverUrl}/again`);
    const answer = await resend('PIX_RECEBIDO', [...ids, 'E00000000202601010000aaaaaaaaaaa']);
    expect([answer.status, await answer.text()]).toEqual([202, '']);
    await eventually(async () =>
      expect(await listNotices(simulator, '/again/pix')).toHaveLength(1),
    );
    const [notice] = await listNotices(simulator, '/again/pix');
    const { pix } = JSON.parse(notice?.body ?? '') as { pix: { endToEndId: string }[] };
    expect(pix.map(({ endToEndId }) => endToEndId)).toEqual(ids);
  });

  it('are refused for a word that is none, and for no ids', async () => {
    expect((await resend('PIX', ['E1'])).status).toBe(400);
    expect((await resend('PIX_RECEBIDO', [])).status).toBe(400);
  });
});

describe('a registration', () => {
  async function callWebhook(method: string): Promise<Response> {
    return await callProvider(method, `/v2/webhook/${TEST_ACCOUNT.pixKey}`);
  }

  it('can be ended, once', async () => {
    expect((await callWebhook('DELETE')).status).toBe(204);
    expect((await callWebhook('GET')).status).toBe(404);
    expect((await callWebhook('DELETE')).status).toBe(404);
    await pay(await issue());
    expect(await queued()).toBe(0);
  });
});

describe('a fault of callbacks', () => {
  async function fault(rule: object): Promise<void> {
    const rules = [{ operation: 'callback', ...rule }];
    await simulator.call('PUT', '/control/faults', { rules });
  }

  it('drops a notice for good while the Pix stays', async () => {
    await fault({ fault: 'drop', count: 1 });
    const [dropped, sent] = [await issue(), await issue()];
    const lost = await pay(dropped);
    const endToEndId = await pay(sent);
    await eventually(async () => expect(await announced()).toEqual([endToEndId]));
    // The receiver has a notice a moment before the sender has noted it.
    await eventually(async () => expect(await queued()).toBe(0));
    expect(await acquirer.getReceived(lost)).toMatchObject({ kind: 'found' });
  });

  it('sends a notice twice', async () => {
    await fault({ fault: 'duplicate', count: 1 });
    const endToEndId = await pay(await issue());
    await eventually(async () => {
      expect(await announced()).toEqual([endToEndId, endToEndId]);
    });
  });

  it('delays a notice', async () => {
    await fault({ fault: 'delay', delay_ms: 400, count: 1 });
    const startedAt = performance.now();
    await pay(await issue());
    await eventually(async () => expect(await announced()).toHaveLength(1));
    expect(performance.now() - startedAt).toBeGreaterThan(390);
  });

  it('lets the next notice overtake one', async () => {
    await fault({ fault: 'reorder', delay_ms: 5_000, count: 1 });
    const first = await pay(await issue());
    const second = await pay(await issue());
    await eventually(async () => {
      expect(await announced()).toEqual([second, first]);
    });
  });

  it('lets two reordered notices swap', async () => {
    await fault({ fault: 'reorder', delay_ms: 5_000, count: 2 });
    const first = await pay(await issue());
    const second = await pay(await issue());
    await eventually(async () => {
      expect(await announced()).toEqual([second, first]);
    });
  });

  it('sends a held notice by itself when nothing follows', async () => {
    await fault({ fault: 'reorder', delay_ms: 200 });
    const endToEndId = await pay(await issue());
    await eventually(async () => expect(await announced()).toEqual([endToEndId]));
  });
});
