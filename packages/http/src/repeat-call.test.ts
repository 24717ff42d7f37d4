import { once } from 'node:events';
import { connect, createServer, isIP, type AddressInfo } from 'node:net';

import { expect, test } from 'vitest';

import { mayRepeat } from './repeat-call.ts';

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
    expect(mayRepeat(method, await refusedBy(['127.0.0.1']))).toBe(true);
    const byAll = await refusedBy(['127.0.0.1', '::1']);
    expect(byAll).toBeInstanceOf(AggregateError);
    expect(mayRepeat(method, byAll)).toBe(true);
  },
);

test('a call that changes something is not made again where one attempt may have been sent', () => {
  const refused = Object.assign(new Error('refused'), { syscall: 'connect' });
  const cut = Object.assign(new Error('cut'), { code: 'ECONNRESET' });
  expect(mayRepeat('POST', new AggregateError([refused, cut]))).toBe(false);
});
