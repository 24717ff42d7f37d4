import { once } from 'node:events';
import { connect, type ConnectionOptions } from 'node:tls';
import { text } from 'node:stream/consumers';

import { createLogger } from '@pixmesh/telemetry/logger';
import { issueTexts, makeIdentity, makeTestAuthority } from '@pixmesh/testkit/made-identities';
import { expect, onTestFinished, test, vi } from 'vitest';

import { meshPeers } from './peers.ts';
import { createServiceApp } from './service-app.ts';
import { listen } from './testing/raw-request.ts';

const authority = await makeTestAuthority();
const payouts = await issueTexts(authority, 'payouts');
const GET = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'a caller is whom its certificate names, by %s',
  async (version) => {
    const { port } = await aListener();
    const answer = await ask(port, { ...payouts, maxVersion: version, minVersion: version });
    expect(answer).toContain('"payouts"');
  },
);

test.each<[string, () => Promise<ConnectionOptions>]>([
  ['without a certificate', async () => ({ ca: authority.cert })],
  [
    'with one of another authority, of the same name',
    async () => ({
      ...(await issueTexts(await makeTestAuthority(), 'payouts')),
      ca: authority.cert,
    }),
  ],
  ['with one that has ended', async () => await issueTexts(authority, 'payouts', -1_000)],
  ['by an old protocol', async () => ({ ...payouts, maxVersion: 'TLSv1.1', minVersion: 'TLSv1' })],
])('nobody comes in %s', async (_how, optionsOf) => {
  const { port, served } = await aListener();
  expect(await isServed(port, await optionsOf())).toBe(false);
  expect(served).not.toHaveBeenCalled();
});

test('a connection counts no longer than its certificate', async () => {
  const { port } = await aListener();
  const socket = await open(port, await issueTexts(authority, 'payouts', 60_000));
  vi.setSystemTime(Date.now() + 61_000);
  onTestFinished(() => void vi.useRealTimers());
  socket.write(GET);
  expect(await text(socket)).toContain('null');
});

test('no session is resumed: each connection is proven anew', async () => {
  const { port } = await aListener();
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const first = await open(port, { ...payouts, maxVersion });
    let session: Buffer | undefined = first.getSession();
    first.on('session', (ticket) => {
      session = ticket;
    });
    first.write(GET);
    await text(first);
    const second = await open(port, { ...payouts, maxVersion, ...(session && { session }) });
    expect(second.isSessionReused()).toBe(false);
    second.destroy();
  }
});

test('an authority that is believed no longer lets nobody in, from the next connection on', async () => {
  const { port, identity } = await aListener();
  const next = await makeTestAuthority();
  identity.replace(await issueTexts(next, 'ledger'));
  expect(await isServed(port, { ...payouts, ca: next.cert })).toBe(false);
  const renewed = await issueTexts(next, 'payouts');
  expect(await ask(port, renewed)).toContain('"payouts"');
});

async function aListener() {
  const identity = await makeIdentity(authority, 'ledger');
  const peers = meshPeers(identity);
  const app = createServiceApp({
    logger: createLogger('test', 'silent'),
    listener: 'test',
    mutualTls: peers.tls,
  });
  const served = vi.fn<() => void>();
  app.get('/', async (request) => {
    served();
    return { caller: peers.nameOf(request) };
  });
  onTestFinished(() => app.close());
  return { port: await listen(app), identity, served };
}

async function ask(port: number, options: ConnectionOptions) {
  const socket = await open(port, options);
  socket.write(GET);
  return await text(socket);
}

/** By TLS 1.3 a client learns after its handshake that it was refused. */
async function isServed(port: number, options: ConnectionOptions): Promise<boolean> {
  return await ask(port, options).then(
    (answer) => answer !== '',
    () => false,
  );
}

async function open(port: number, options: ConnectionOptions) {
  const socket = connect({ host: '127.0.0.1', port, servername: 'ledger', ...options });
  await once(socket, 'secureConnect');
  return socket;
}
