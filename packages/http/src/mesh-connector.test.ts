import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

import { runForAccount } from '@pixmesh/fair-share/current-account';
import { makeIdentity, makeTestAuthority } from '@pixmesh/testkit/made-identities';
import { expect, onTestFinished, test, vi } from 'vitest';

import { meshConnector } from './mesh-connector.ts';
import { NotConnectedError } from './repeat-call.ts';

/** Connections that are made at once, and how long one of them keeps the others waiting. */
const CONNECTING = 32;
const TURN_MS = 250;

test('a certificate that cannot be read is an error of the connection, and gives its place back', async () => {
  let texts = { key: '', cert: '', ca: '' };
  const connect = meshConnector({ current: () => texts }, 'ledger');
  texts = { key: 'unreadable', cert: 'unreadable', ca: 'unreadable' };
  const errors = await Promise.all(Array.from({ length: 40 }, () => errorOf(connect)));
  expect(errors).toHaveLength(40);
  for (const error of errors) expect(error).toBeInstanceOf(NotConnectedError);
});

test('a connection of one account waits behind one of another, not behind all', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const [crowded, other] = [await aPeerThatStandsStill(), await aPeerThatStandsStill()];
  const connect = meshConnector(await makeIdentity(await makeTestAuthority(), 'payouts'), 'ledger');
  const begin = (port: string): void => {
    connect(
      { hostname: '127.0.0.1', host: '127.0.0.1', protocol: 'https:', port },
      () => undefined,
    );
  };
  for (let count = 0; count < 3 * CONNECTING; count += 1) {
    runForAccount('many', () => begin(crowded.port));
  }
  runForAccount('one', () => begin(other.port));
  await expect.poll(crowded.accepted).toBe(CONNECTING);
  expect(other.accepted()).toBe(0);
  await vi.advanceTimersByTimeAsync(TURN_MS);
  await expect.poll(other.accepted).toBe(1);
  expect(crowded.accepted()).toBeLessThan(2 * CONNECTING);
});

async function aPeerThatStandsStill() {
  const sockets: Socket[] = [];
  const peer = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
  }).listen(0, '127.0.0.1');
  await once(peer, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    peer.close();
  });
  const { port } = peer.address() as AddressInfo;
  return { port: String(port), accepted: () => sockets.length };
}

async function errorOf(connect: ReturnType<typeof meshConnector>): Promise<unknown> {
  const options = { hostname: '127.0.0.1', host: '127.0.0.1', protocol: 'https:', port: '1' };
  return await new Promise((resolve) => {
    connect(options, (...[error]) => resolve(error));
  });
}
