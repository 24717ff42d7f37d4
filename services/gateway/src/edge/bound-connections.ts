import type { Socket } from 'node:net';

import type { FastifyInstance } from 'fastify';

import { countRefusedConnection, type Listener } from '#reports.ts';

import { type IsTrustedProxy, networkOf, plainAddress } from './addresses.ts';

/**
 * Bounds the connections of one caller to a listener, so that the rest of them are there for others. Those beyond it
 * are closed unread. A trusted proxy stands for many callers and is not bounded. Counts too what Node closes beyond the
 * maximum of the listener, which no other event shows.
 */
export function boundConnections(
  app: FastifyInstance,
  options: { listener: Listener; max: number; isTrusted: IsTrustedProxy },
): void {
  const open = new Map<string, number>();
  app.server.on('drop', () => countRefusedConnection(options.listener));
  app.server.on('connection', (socket: Socket) => {
    const address = plainAddress(socket.remoteAddress);
    if (address === null || options.isTrusted(address)) return;
    const caller = networkOf(address);
    const count = open.get(caller) ?? 0;
    if (count >= options.max) {
      countRefusedConnection(options.listener);
      socket.destroy();
      return;
    }
    open.set(caller, count + 1);
    socket.once('close', () => release(caller));
  });

  function release(caller: string): void {
    const left = (open.get(caller) ?? 0) - 1;
    if (left > 0) open.set(caller, left);
    else open.delete(caller);
  }
}
