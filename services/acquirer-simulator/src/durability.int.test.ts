import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import type { Acquirer, PayoutToSend } from '@pixmesh/acquirer/acquirer';
import { createAcquirer } from '@pixmesh/acquirer/client';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { freePorts } from '@pixmesh/testkit/free-ports';
import { hasEnded, ownProcess } from '@pixmesh/testkit/owned-process';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';

import {
  aCharge,
  aSend,
  callControl,
  listNotices,
  TEST_ACCOUNT,
  testEnvironment,
} from '#test/test-simulator.ts';

/** A machine that is busy with other suites boots slowly, and answers so. */
const BOOT_TIMEOUT_MS = 45_000;
const ANSWER_TIMEOUT_MS = 10_000;
/** Orders of a client that wait for their answers at the same time. */
const SENDERS = 4;

let database: TestDatabase;
let ports: { api: number; receiver: number };
let child: ChildProcess;
let acquirer: Acquirer;
let callbacks: Server;
let takesCallbacks: boolean;
let announced: string[];

/** One simulator for all tests: each kills it, and starts it again. */
beforeAll(async () => {
  database = await createTestDatabase('acquirer_simulator');
  const [api = 0, receiver = 0] = await freePorts(2);
  ports = { api, receiver };
  callbacks = createServer((request, response) => void takeCallback(request, response));
  callbacks.listen(0, '127.0.0.1');
  await once(callbacks, 'listening');
  acquirer = createAcquirer({ ...TEST_ACCOUNT, url: origins().url, timeoutMs: ANSWER_TIMEOUT_MS });
  await startProcess();
});

beforeEach(async () => {
  // One that an earlier test left dead is no fault of this one.
  if (hasEnded(child)) await startProcess();
  takesCallbacks = true;
  announced = [];
  await call('DELETE', '/control/faults');
  await acquirer.registerCallback(`http://127.0.0.1:${portOf(callbacks)}/hook`);
});

afterAll(async () => {
  await killProcess('SIGTERM');
  await acquirer[Symbol.asyncDispose]();
  callbacks.closeAllConnections();
  callbacks.close();
  await database[Symbol.asyncDispose]();
});

async function takeCallback(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pix } = JSON.parse(await text(request)) as { pix: { endToEndId: string }[] };
  if (takesCallbacks) announced.push(...pix.map(({ endToEndId }) => endToEndId));
  response.writeHead(takesCallbacks ? 200 : 503).end();
}

function origins() {
  return {
    url: `http://127.0.0.1:${ports.api}`,
    receiverUrl: `http://127.0.0.1:${ports.receiver}`,
  };
}

async function call(method: string, path: string, body?: object) {
  return await callControl(origins(), { method, path, body });
}

/** One that ends before it answers is started again, as its supervisor does: its database may not answer in time. */
async function startProcess(): Promise<void> {
  spawnProcess();
  await eventually(async () => {
    if (hasEnded(child)) spawnProcess();
    await call('GET', '/control/faults');
  }, BOOT_TIMEOUT_MS);
}

function spawnProcess(): void {
  const main = new URL('main.ts', import.meta.url).pathname;
  child = spawn(process.execPath, [main], {
    env: {
      ...process.env,
      ...testEnvironment(database.url),
      PORT: String(ports.api),
      RECEIVER_PORT: String(ports.receiver),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  ownProcess(child);
}

async function killProcess(signal: 'SIGKILL' | 'SIGTERM'): Promise<unknown> {
  if (hasEnded(child)) return child.exitCode;
  const exited = once(child, 'exit');
  child.kill(signal);
  const [code] = (await exited) as [number | null];
  return code;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function payMany(count: number): Promise<string[]> {
  const paid = Array.from({ length: count }, async () => {
    const charge = aCharge();
    await acquirer.issueCharge(charge);
    const { body } = await call('POST', `/control/charges/${charge.txid}/pay`);
    return body['end_to_end_id'] as string;
  });
  return await Promise.all(paid);
}

/** What was said of these, each time; what an earlier test began may still be announced. */
function announcedOf(ids: readonly string[]): string[] {
  return announced.filter((id) => ids.includes(id));
}

async function refundHalf(endToEndId: string): Promise<string> {
  const { kind } = await acquirer.refund({ endToEndId, refundId: 'r', amountCents: 500n });
  return kind;
}

async function sendAll(waiting: PayoutToSend[]): Promise<void> {
  for (let send = waiting.pop(); send !== undefined; send = waiting.pop()) {
    await sendUntilThere(send);
  }
}

/** The recovery rule: look up after any doubt, and send again only what is not there. */
async function sendUntilThere(send: PayoutToSend): Promise<void> {
  const outcome = await acquirer.sendPayout(send);
  if (outcome.kind === 'accepted') return;
  expect(outcome.kind).toBe('unknown');
  const lookup = await eventually(async () => {
    const found = await acquirer.getPayout(send.idEnvio);
    expect(found.kind).not.toBe('unknown');
    return found;
  }, BOOT_TIMEOUT_MS);
  if (lookup.kind === 'not_found') await sendUntilThere(send);
}

/** How many entries of each kind the journal has about these orders. */
async function journalOf(sends: readonly PayoutToSend[]): Promise<Record<string, number>> {
  const { body } = await call('GET', '/control/journal?limit=100000');
  const ids = new Set(sends.map(({ idEnvio }) => idEnvio));
  const own = (body['data'] as { kind: string; id_envio: string }[]).filter((line) =>
    ids.has(line.id_envio),
  );
  const kinds = Map.groupBy(own, ({ kind }) => kind);
  return Object.fromEntries([...kinds].map(([kind, lines]) => [kind, lines.length]));
}

async function endToEndIdsOf(sends: readonly PayoutToSend[]): Promise<string[]> {
  const found = await Promise.all(sends.map(({ idEnvio }) => acquirer.getPayout(idEnvio)));
  return found.map((one) => (one.kind === 'found' ? one.value.endToEndId : one.kind));
}

describe('a killed simulator', () => {
  it('has lost no charge, payment or notice, and goes on with the token it gave', async () => {
    takesCallbacks = false;
    const paid = await payMany(20);
    const { body: journal } = await call('GET', '/control/journal');
    await killProcess('SIGKILL');
    takesCallbacks = true;
    await startProcess();
    await eventually(() => expect(new Set(announcedOf(paid))).toEqual(new Set(paid)));
    expect((await call('GET', '/control/journal')).body).toEqual(journal);
    for (const endToEndId of paid) {
      expect(await acquirer.getReceived(endToEndId)).toMatchObject({ kind: 'found' });
    }
  });

  it('sends again what it was sending when it died', async () => {
    await acquirer.registerCallback(`${origins().receiverUrl}/hook`);
    await call('PUT', '/receiver/behaviour/hook/pix', { hang: true, times: 1 });
    await payMany(1);
    await eventually(async () => {
      expect(await listNotices({ call }, '/hook/pix')).toHaveLength(1);
    });
    await killProcess('SIGKILL');
    await startProcess();
    await eventually(async () => {
      const notices = await listNotices({ call }, '/hook/pix');
      expect(notices.map((notice) => notice.answered_status)).toEqual([null, 200]);
    });
  });

  it('settles and announces every order it had accepted, once', async () => {
    const rules = [
      { operation: 'settlePayout', fault: 'latency', delay_ms: 700, probability: 0.5 },
    ];
    await call('PUT', '/control/faults', { seed: 1, rules });
    const sends = Array.from({ length: 30 }, () => aSend());
    const accepted = await Promise.all(sends.map((send) => acquirer.sendPayout(send)));
    await killProcess('SIGKILL');
    await startProcess();
    const ids = accepted.map((outcome) =>
      outcome.kind === 'accepted' ? outcome.payout.endToEndId : outcome.kind,
    );
    await eventually(() => expect(new Set(announcedOf(ids))).toEqual(new Set(ids)));
    for (const { idEnvio } of sends) {
      expect(await acquirer.getPayout(idEnvio)).toMatchObject({ value: { status: 'settled' } });
    }
    expect(await journalOf(sends)).toEqual({ sent: 30, settled: 30 });
  });

  it('killed in the middle of orders leaves each of them made once and settled once', async () => {
    const sends = Array.from({ length: 40 }, () => aSend());
    const ids = sends.map(({ idEnvio }) => idEnvio);
    const waiting = [...sends];
    const sending = Promise.all(Array.from({ length: SENDERS }, () => sendAll(waiting)));
    // Awaited below; until then its failure is no unhandled one.
    sending.catch(() => undefined);
    for (let kills = 0; kills < 2; kills += 1) {
      await eventually(async () => {
        const { sent = 0, settled = 0 } = await journalOf(sends);
        expect(sent + settled).toBeGreaterThan(15 * kills);
      }, BOOT_TIMEOUT_MS);
      await killProcess('SIGKILL');
      await startProcess();
    }
    await sending;
    await eventually(async () => {
      const rows = await database.db.query<{ kind: string; lines: bigint; orders: bigint }>(sql`
        select kind, count(*) as lines, count(distinct id_envio) as orders
        from journal where id_envio = any (${ids}) group by kind order by kind`);
      expect(rows).toEqual([
        { kind: 'sent', lines: 40n, orders: 40n },
        { kind: 'settled', lines: 40n, orders: 40n },
      ]);
    });
    const endToEndIds = await endToEndIdsOf(sends);
    await eventually(() => {
      expect(new Set(announcedOf(endToEndIds))).toEqual(new Set(endToEndIds));
    });
  }, 120_000);

  it('keeps back what the script keeps from settling, and lets it go when the script ends', async () => {
    await call('PUT', '/control/faults', { rules: [{ operation: 'settlePayout', fault: 'hang' }] });
    const send = aSend();
    await acquirer.sendPayout(send);
    await killProcess('SIGKILL');
    await startProcess();
    expect(await acquirer.getPayout(send.idEnvio)).toMatchObject({
      value: { status: 'processing' },
    });
    await call('DELETE', '/control/faults');
    await eventually(async () => {
      expect(await acquirer.getPayout(send.idEnvio)).toMatchObject({
        value: { status: 'settled' },
      });
    });
  });

  it('sends back the second half of what it was sending back', async () => {
    await call('PUT', '/control/profile', { name: 'efi' });
    onTestFinished(async () => void (await call('PUT', '/control/profile', { name: 'manual' })));
    const send = aSend({ amountCents: 400n });
    await acquirer.sendPayout(send);
    await eventually(async () => {
      const found = await acquirer.getPayout(send.idEnvio);
      expect(found.kind === 'found' && found.value.returns.length).toBeGreaterThan(0);
    });
    await killProcess('SIGKILL');
    await startProcess();
    await eventually(async () => {
      const found = await acquirer.getPayout(send.idEnvio);
      expect(found).toMatchObject({
        value: { returns: [{ amountCents: 200n }, { amountCents: 200n }] },
      });
    });
  });

  it('ends and announces every refund it had accepted, once, and keeps its disputes', async () => {
    const paid = await payMany(20);
    const [disputed = ''] = paid;
    const opened = await call('POST', '/control/disputes', {
      end_to_end_id: disputed,
      amount: 1,
      status: 'lost',
    });
    await eventually(() => expect(announcedOf(paid)).toHaveLength(paid.length + 1));
    const rules = [
      { operation: 'settleRefund', fault: 'latency', delay_ms: 700, probability: 0.5 },
      { operation: 'settleRefund', fault: 'refusal', probability: 0.3 },
    ];
    await call('PUT', '/control/faults', { seed: 1, rules });
    const accepted = await Promise.all(paid.map((endToEndId) => refundHalf(endToEndId)));
    expect(new Set(accepted)).toEqual(new Set(['accepted']));
    await killProcess('SIGKILL');
    await startProcess();
    await eventually(() => {
      expect(announcedOf(paid).length).toBeGreaterThanOrEqual(2 * paid.length + 1);
    });
    const refunds = await Promise.all(
      paid.map((endToEndId) => acquirer.getRefund(endToEndId, 'r')),
    );
    const ends = refunds.map((found) => found.kind === 'found' && found.value.status);
    expect(new Set(ends)).toEqual(new Set(['returned', 'failed']));
    const { body } = await call('GET', '/control/journal');
    const lines = body['data'] as { kind: string; amount: number; end_to_end_id: string }[];
    const returned = lines.filter(
      ({ kind, amount, end_to_end_id: id }) =>
        kind === 'returned' && amount === 500 && paid.includes(id),
    );
    expect(returned).toHaveLength(ends.filter((end) => end === 'returned').length);
    const window = { from: new Date(Date.now() - 60_000), to: new Date(), page: 0 };
    expect(await acquirer.listDisputes(window)).toMatchObject({
      items: [{ id: opened.body['id'], status: 'accepted' }],
    });
  });

  it('ends in order on SIGTERM, even while it holds an answer back', async () => {
    const rules = [{ operation: 'getCharge', fault: 'hang' }];
    await call('PUT', '/control/faults', { rules });
    const held = acquirer.getCharge(aCharge().txid);
    const { receiverUrl } = origins();
    await call('PUT', '/receiver/behaviour/held', { hang: true });
    const heldHook = fetch(`${receiverUrl}/held`, { method: 'POST' }).catch(() => 'ended');
    await eventually(async () => expect(await listNotices({ call }, '/held')).toHaveLength(1));
    expect(await killProcess('SIGTERM')).toBe(0);
    expect(await held).toMatchObject({ kind: 'unknown', cause: 'connection' });
    expect(await heldHook).toBe('ended');
    await startProcess();
  });
});
