import { createLogger } from '@pixmesh/telemetry/logger';
import { beforeEach, expect, test } from 'vitest';

import { type Parts, startService } from './start-service.ts';

const CONFIG = {
  NODE_ENV: 'test',
  LOG_LEVEL: 'info',
  HOST: '127.0.0.1',
  INTERNAL_PORT: 0,
} as const;

let stopped: string[];
let logLines: { msg: string }[];

beforeEach(() => {
  stopped = [];
  logLines = [];
});

function aService(startParts: (parts: Parts) => void, changes: object = {}) {
  const logger = createLogger('test', 'info', {
    write: (line) => void logLines.push(JSON.parse(line)),
  });
  return startService(
    { name: 'test', config: { ...CONFIG, ...changes }, logger },
    async (parts) => {
      startParts(parts);
      return { ports: { http: 7, callbacks: null }, checkReady: () => Promise.resolve(), url: 'u' };
    },
  );
}

function aPart(name: string, isAlive?: () => boolean) {
  return {
    ...(isAlive && { isAlive }),
    [Symbol.asyncDispose]: async () => void stopped.push(name),
  };
}

async function statusOf(port: number, path: string): Promise<number> {
  return (await fetch(`http://127.0.0.1:${port}${path}`)).status;
}

test('a service is alive while each of its parts that can tell is alive', async () => {
  let isAlive = true;
  await using service = await aService(({ use }) => {
    use('pool', aPart('pool'));
    use(
      'sender',
      aPart('sender', () => isAlive),
    );
  });
  const { internal } = service.ports;
  expect(await statusOf(internal, '/livez')).toBe(200);
  isAlive = false;
  expect(await statusOf(internal, '/livez')).toBe(503);
});

test('a stop is not ready at first, and health outlives the parts', async () => {
  let inStop: number[] = [];
  const service = await aService(({ use }) => {
    use('pool', aPart('pool'));
    use('http', {
      [Symbol.asyncDispose]: async () => {
        const { internal } = service.ports;
        inStop = [await statusOf(internal, '/readyz'), await statusOf(internal, '/livez')];
        stopped.push('http');
      },
    });
  });
  expect(await statusOf(service.ports.internal, '/readyz')).toBe(200);
  await service[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
  expect({ stopped, inStop }).toEqual({ stopped: ['http', 'pool'], inStop: [503, 200] });
  await expect(statusOf(service.ports.internal, '/livez')).rejects.toThrow('fetch failed');
});

test('the log says once where a service listens, and once that it stops', async () => {
  const service = await aService(() => undefined);
  await service[Symbol.asyncDispose]();
  const { ports, url } = service;
  expect({ ports, url }).toEqual({
    ports: { http: 7, callbacks: null, internal: expect.any(Number) },
    url: 'u',
  });
  expect(logLines).toMatchObject([
    { msg: 'service ready', version: expect.any(String), ports },
    { msg: 'service stopping', reason: 'disposed' },
  ]);
});

test.each([
  ['production', ['redis'], 1],
  ['production', undefined, 0],
  ['test', ['redis'], 0],
])('the log says at each start in %s which connections may be plain: %o', async (...row) => {
  const [NODE_ENV, PIXMESH_ALLOW_PLAINTEXT, lines] = row;
  await using _service = await aService(() => undefined, { NODE_ENV, PIXMESH_ALLOW_PLAINTEXT });
  const warned = logLines.filter(({ msg }) => msg.includes('PIXMESH_ALLOW_PLAINTEXT'));
  expect(warned).toHaveLength(lines);
  if (lines > 0) expect(warned).toMatchObject([{ plaintext: ['redis'] }]);
});

test('the log says why a service stops, the first time that it is told to', async () => {
  const service = await aService(() => undefined);
  await service.stop({ reason: 'signal', signal: 'SIGTERM' });
  await service.stop({ reason: 'another' });
  const stops = logLines.filter(({ msg }) => msg === 'service stopping');
  expect(stops).toMatchObject([{ reason: 'signal', signal: 'SIGTERM' }]);
});

test('a service of which a part cannot start leaves nothing running', async () => {
  const starting = aService(({ use }) => {
    use('pool', aPart('pool'));
    throw new Error('no broker');
  });
  await expect(starting).rejects.toThrow('no broker');
  expect(stopped).toEqual(['pool']);
});

test('what takes work from others begins when all parts have started', async () => {
  const order: string[] = [];
  await using _service = await aService(({ use }) => {
    use('messaging', { ...aPart('messaging'), onReady: () => void order.push('takes work') });
    order.push('http listens');
  });
  expect(order).toEqual(['http listens', 'takes work']);
});

test('no part takes more work by itself from the beginning of a stop, before any part is stopped', async () => {
  const service = await aService(({ use }) => {
    const takeNoMore = (name: string) => () => void stopped.push(`${name} takes no more`);
    use('sender', { ...aPart('sender'), takeNoMore: takeNoMore('sender') });
    use('checks', { ...aPart('checks'), takeNoMore: takeNoMore('checks') });
    use('http', { ...aPart('http'), drain: async () => void stopped.push('callers') });
  });
  await service.stop({ reason: 'signal', signal: 'SIGTERM' });
  expect(stopped).toEqual([
    'sender takes no more',
    'checks takes no more',
    'callers',
    'http',
    'checks',
    'sender',
  ]);
});

test('connections of callers end before any part stops, where a process ends', async () => {
  const service = await aService(({ use }) => {
    use('pool', aPart('pool'));
    use('http', { ...aPart('http'), drain: async () => void stopped.push('callers') });
  });
  await service.stop({ reason: 'signal', signal: 'SIGTERM' });
  expect(stopped).toEqual(['callers', 'http', 'pool']);
});
