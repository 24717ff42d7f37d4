import { once } from 'node:events';
import { connect, createServer, isIP, type AddressInfo } from 'node:net';

import { expect, test } from 'vitest';

import { repeatAfterMs } from './repeat-call.ts';

/** The error of a connection to a name with these addresses, where nobody listens. */
async function refusedBy(addresses: readonly string[]): Promise<unknown> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const socket = connect({
    host: 'peer.test',
    port,
    autoSelectFamily: true,
    lookup: (_name, _options, done) => done(null, found),
  });
  const [error] = await once(socket, 'error');
  return error;
}

test.each(['GET', 'POST'])(
  '%s is made again where every address of the peer refused',
  async (method) => {
    expect(repeatAfterMs({ method }, await refusedBy(['127.0.0.1']), 1)).toBe(50);
    const byAll = await refusedBy(['127.0.0.1', '::1']);
    expect(byAll).toBeInstanceOf(AggregateError);
    expect(repeatAfterMs({ method }, byAll, 5)).toBe(800);
    expect(repeatAfterMs({ method }, byAll, 6)).toBeNull();
  },
);

test('a call that changes something is not made again where one attempt may have been sent', () => {
  const refused = Object.assign(new Error('refused'), { syscall: 'connect' });
  const cut = Object.assign(new Error('cut'), { code: 'ECONNRESET' });
  expect(repeatAfterMs({ method: 'POST' }, new AggregateError([refused, cut]), 1)).toBeNull();
});

test('a call that was cut off is made again where it says that it may be', () => {
  const cut = Object.assign(new Error('cut'), { code: 'ECONNRESET' });
  const call = { method: 'PUT', isRepeatable: true };
  expect([1, 2, 3].map((tries) => repeatAfterMs(call, cut, tries))).toEqual([0, 0, null]);
});

test('a call without an answer in its time is made again where it may be', () => {
  const late = new DOMException('too late', 'TimeoutError');
  expect(repeatAfterMs({ method: 'GET' }, late, 1)).toBe(0);
  expect(repeatAfterMs({ method: 'POST' }, late, 1)).toBeNull();
});
