import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { type Acquirer, createAcquirer } from '@pixmesh/acquirer/client';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import {
  aCharge,
  callControl,
  listNotices,
  TEST_ACCOUNT,
  testEnvironment,
} from './test-simulator.ts';

const BOOT_TIMEOUT_MS = 15_000;

let database: TestDatabase;
let ports: { api: number; receiver: number };
let child: ChildProcess;
let acquirer: Acquirer;
let callbacks: Server;
let takesCallbacks: boolean;
let announced: string[];

beforeEach(async () => {
  database = await createTestDatabase('acquirer_simulator');
  ports = { api: await freePort(), receiver: await freePort() };
  takesCallbacks = true;
  announced = [];
  callbacks = createServer((request, response) => void takeCallback(request, response));
  callbacks.listen(0, '127.0.0.1');
  await once(callbacks, 'listening');
  acquirer = createAcquirer({ ...TEST_ACCOUNT, url: origins().url, timeoutMs: 2_000 });
  await startProcess();
  await acquirer.registerCallback(`http://127.0.0.1:${portOf(callbacks)}/hook`);
});

afterEach(async () => {
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

async function startProcess(): Promise<void> {
  const main = new URL('main.ts', import.meta.url).pathname;
  child = spawn(process.execPath, ['--import', '@pixmesh/telemetry/preload', main], {
    env: {
      ...process.env,
      ...testEnvironment(database.url),
      PORT: String(ports.api),
      RECEIVER_PORT: String(ports.receiver),
    },
    stdio: 'inherit',
  });
  await eventually(async () => await call('GET', '/control/faults'), BOOT_TIMEOUT_MS);
}

async function killProcess(signal: 'SIGKILL' | 'SIGTERM'): Promise<unknown> {
  const exited = once(child, 'exit');
  child.kill(signal);
  const [code] = (await exited) as [number | null];
  return code;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  server.close();
  await once(server, 'close');
  return port;
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

describe('a killed simulator', () => {
  it('has lost no charge, payment or notice, and goes on with the token it gave', async () => {
    takesCallbacks = false;
    const paid = await payMany(20);
    const { body: journal } = await call('GET', '/control/journal');
    await killProcess('SIGKILL');
    takesCallbacks = true;
    await startProcess();
    await eventually(() => expect(new Set(announced)).toEqual(new Set(paid)));
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
