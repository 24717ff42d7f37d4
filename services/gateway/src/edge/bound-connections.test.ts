import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';

import { createServiceApp } from '@pixmesh/http/service-app';
import { createLogger } from '@pixmesh/telemetry/logger';
import { renderMetrics, stopTelemetry } from '@pixmesh/telemetry/running-telemetry';
import { startTelemetry } from '@pixmesh/telemetry/start-telemetry';
import { expect, onTestFinished, test } from 'vitest';

async function countedOf(listener: string): Promise<number> {
  const line = new RegExp(
    `^gateway_connections_refused_total\\{listener="${listener}".*\\} (\\d+)`,
    'm',
  );
  return Number(line.exec((await renderMetrics()) ?? '')?.[1]);
}

test('connections beyond the maximum of the listener are counted as refused', async () => {
  // A counter belongs to what runs when its module is loaded.
  await startTelemetry('gateway', {});
  onTestFinished(stopTelemetry);
  const { boundConnections } = await import('./bound-connections.ts');
  const app = createServiceApp({ logger: createLogger('test', 'silent'), listener: 'public' });
  boundConnections(app, { listener: 'public', max: 10, isTrusted: () => true });
  app.server.maxConnections = 2;
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const sockets: Socket[] = [];
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await app.close();
  });
  const open = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  };
  const taken = [await open(), await open()];
  expect(await countedOf('public')).toBe(0);
  for (let refused = 1; refused <= 3; refused += 1) {
    const socket = await open();
    if (!socket.closed) await once(socket.resume(), 'close');
    expect(await countedOf('public')).toBe(refused);
  }
  expect(await countedOf('admin')).toBe(0);
  expect(taken.map(({ closed }) => closed)).toEqual([false, false]);
});
