import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';

import { eventually } from '@pixmesh/testkit/eventually';
import { buildConnector } from 'undici';
import { describe, expect, test } from 'vitest';

import { answerWith, hang, startReceiver } from '#test/start-receiver.ts';

import type { OpenSocket } from './connection-pools.ts';
import { createExchange, type Exchange, type ExchangeResult } from './exchange.ts';
import { EXCERPT_BYTES_MAX } from './excerpt.ts';

/** Of an attempt that must end by its deadline; and of any other, as a busy machine is no failure. */
const TIMEOUT_MS = 1_000;
const PATIENT_MS = 10_000;
/** For a timer and an event loop shared with other tests. */
const LATENESS_MS_MAX = 2_000;
const DRIP_INTERVAL_MS = 20;
const HTTPS_URL = 'https://shop.receiver.example.com/hook';

describe('the deadline', () => {
  test('ends a receiver that accepts and never answers', async () => {
    await using receiver = await startReceiver(hang);
    expectTimeout(await postTo(receiver.port, { timeoutMs: TIMEOUT_MS }));
  });

  test('ends a head that drips', async () => {
    await using server = await startRawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      drip(socket, 'x-drip: yes\r\n');
    });
    expectTimeout(await postTo(server.port, { timeoutMs: TIMEOUT_MS }));
  });

  test('ends endless informational answers', async () => {
    await using server = await startRawServer((socket) => {
      drip(socket, 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n');
    });
    expectTimeout(await postTo(server.port, { timeoutMs: TIMEOUT_MS }));
  });

  test('frees the slot of a body that drips, and the 2xx head has decided', async () => {
    await using server = await startRawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n');
      drip(socket, 'x');
    });
    const result = await postTo(server.port, { timeoutMs: TIMEOUT_MS });
    expect(result).toMatchObject({ outcome: 'succeeded', status: 200, error: null });
    expect(result.responseExcerpt).toMatch(/^x+$/);
    expect(result.durationMs).toBeLessThan(TIMEOUT_MS + LATENESS_MS_MAX);
  });

  test('ends a TLS handshake that never comes', async () => {
    await using server = await startRawServer(() => undefined, { waitForRequest: false });
    expectTimeout(await postTo(server.port, { url: HTTPS_URL, timeoutMs: TIMEOUT_MS }));
  });

  test('passes before the connection is made: the request is never sent afterwards', async () => {
    await using receiver = await startReceiver();
    const opened = Promise.withResolvers<void>();
    let delayMs = TIMEOUT_MS + 100;
    const late: OpenSocket = (timeout) => (options, callback) => {
      const connect = buildConnector({ timeout });
      setTimeout(() => {
        connect(options, (...outcome) => {
          callback(...outcome);
          opened.resolve();
        });
      }, delayMs);
      delayMs = 0;
    };
    await using exchange = openExchange(receiver.port, { openSocket: late, timeoutMs: TIMEOUT_MS });
    expectTimeout(await post(exchange));
    await opened.promise;
    // The socket that came too late is open now; only the second request arrives.
    expect((await post(exchange)).outcome).toBe('succeeded');
    expect(receiver.requests).toHaveLength(1);
  });
});

describe('a hostile answer', () => {
  test.each([301, 302, 303, 307, 308])('with status %i is not followed', async (status) => {
    await using receiver = await startReceiver((request, response) => {
      const location = `http://shop.receiver.example.com/other`;
      answerWith(request.path === '/hook' ? status : 200, { location })(request, response);
    });
    const result = await postTo(receiver.port);
    expect(result).toMatchObject({ outcome: 'failed', reason: 'status', status });
    expect(receiver.requests.map(({ path }) => path)).toEqual(['/hook']);
  });

  test('with an endless body is read up to its bound, then the socket is dropped', async () => {
    let sent = 0;
    let closed = false;
    await using server = await startRawServer((socket) => {
      socket.on('close', () => {
        closed = true;
      });
      socket.write(
        'HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n',
      );
      pour(socket, (bytes) => {
        sent += bytes;
      });
    });
    const result = await postTo(server.port);
    expect(result.outcome).toBe('succeeded');
    expect(result.responseExcerpt).toHaveLength(EXCERPT_BYTES_MAX);
    expect(result.durationMs).toBeLessThan(PATIENT_MS);
    await eventually(() => expect(closed).toBe(true));
    // What fits into the kernel's buffers of both sides, and nothing like what the server would send.
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });

  test.each([EXCERPT_BYTES_MAX - 1, EXCERPT_BYTES_MAX])(
    'with a body of %i bytes is kept whole',
    async (length) => {
      await using receiver = await startReceiver((_request, response) => {
        response.end('z'.repeat(length));
      });
      expect((await postTo(receiver.port)).responseExcerpt).toBe('z'.repeat(length));
    },
  );

  test('with the longest body that is kept, in chunks of one byte, is kept whole', async () => {
    await using server = await startRawServer((socket) => {
      const chunks = '1\r\nz\r\n'.repeat(EXCERPT_BYTES_MAX);
      socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
    });
    const result = await postTo(server.port);
    expect(result.responseExcerpt).toBe('z'.repeat(EXCERPT_BYTES_MAX));
  });

  test('after another on the same socket has bytes of its own', async () => {
    await using receiver = await startReceiver((_request, response) => {
      response.end('z'.repeat(EXCERPT_BYTES_MAX - 1));
    });
    await using exchange = openExchange(receiver.port);
    for (let count = 0; count < 40; count += 1) {
      expect((await post(exchange)).responseExcerpt).toHaveLength(EXCERPT_BYTES_MAX - 1);
    }
    expect(receiver.connections()).toBeLessThanOrEqual(2);
  });

  test('that pours informational heads is cut long before the deadline', async () => {
    await using server = await startRawServer((socket) => {
      const head = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
      socket.write(head.repeat(20_000));
    });
    expect(await postTo(server.port)).toMatchObject({
      error: 'bad_response: the answer is too long',
      status: null,
    });
  });

  test('with a body of thousands of empty lines is kept whole', async () => {
    const lines = '\n'.repeat(EXCERPT_BYTES_MAX);
    await using receiver = await startReceiver((_request, response) => void response.end(lines));
    expect((await postTo(receiver.port)).responseExcerpt).toBe(lines);
  });

  test('with tiny headers beyond the limit does not hold up the process', async () => {
    await using server = await startRawServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nx: ${'v'.repeat(16_300)}\r\n${'a:b\r\n'.repeat(10_000)}`);
    });
    let errors = 0;
    const prepare = Error.prepareStackTrace;
    Error.prepareStackTrace = (error) => {
      errors += 1;
      return String(error);
    };
    const result = await postTo(server.port).finally(() => {
      Error.prepareStackTrace = prepare;
    });
    expect(result).toMatchObject({ outcome: 'failed', reason: 'bad_response' });
    // One error for each header that the parser still saw, where all of them would be 20,000.
    expect(errors).toBeLessThan(2_000);
  });

  test('that is compressed is never inflated', async () => {
    const bomb = gzipSync(Buffer.alloc(4 * 1024 * 1024));
    await using receiver = await startReceiver((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    });
    const result = await postTo(receiver.port);
    expect(result.outcome).toBe('succeeded');
    expect(Buffer.byteLength(result.responseExcerpt ?? '')).toBeLessThanOrEqual(EXCERPT_BYTES_MAX);
  });

  test('with 40 KB of headers is a failure', async () => {
    await using server = await startRawServer((socket) => {
      const headers = Array.from({ length: 40 }, (_, index) => `x-${index}: ${'v'.repeat(1_000)}`);
      socket.write(`HTTP/1.1 200 OK\r\n${headers.join('\r\n')}\r\ncontent-length: 0\r\n\r\n`);
    });
    expect(await postTo(server.port)).toMatchObject({ outcome: 'failed', reason: 'bad_response' });
  });

  test('with an interim 100 that was not asked for is what follows it', async () => {
    await using server = await startRawServer((socket) => {
      const interim = 'HTTP/1.1 100 Continue\r\n\r\n';
      socket.write(`${interim}HTTP/1.1 10`, () =>
        socket.end('0 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n'),
      );
    });
    expect(await postTo(server.port)).toMatchObject({ outcome: 'succeeded', status: 204 });
  });

  test('that is no HTTP is a failure', async () => {
    await using server = await startRawServer((socket) =>
      socket.end('220 mail.example.com ESMTP\r\n'),
    );
    expect(await postTo(server.port)).toMatchObject({ outcome: 'failed', reason: 'bad_response' });
  });

  test.each([
    ['a reset', (socket: Socket) => void socket.resetAndDestroy()],
    ['junk instead of a chunk', (socket: Socket) => void socket.end('junk\r\n')],
  ])('with a 2xx head and then %s is a success', async (_name, end) => {
    await using server = await startRawServer((socket) => {
      const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
      socket.write(`${head}5\r\nhello\r\n`, () => setTimeout(end, 20, socket));
    });
    const result = await postTo(server.port);
    expect(result).toMatchObject({ outcome: 'succeeded', status: 200, responseExcerpt: 'hello' });
  });

  test('with a reset before the head is complete is a failure', async () => {
    await using server = await startRawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-', () => socket.resetAndDestroy());
    });
    expect(await postTo(server.port)).toMatchObject({
      outcome: 'failed',
      reason: 'connection_lost',
    });
  });

  test('with NUL and bytes that are no text gives an excerpt that can be stored', async () => {
    await using receiver = await startReceiver((_request, response) => {
      response.end(Buffer.from([0x61, 0x00, 0xff, 0x62]));
    });
    expect((await postTo(receiver.port)).responseExcerpt).toBe('a\uFFFD\uFFFDb');
  });
});

describe('connections', () => {
  test('are kept and used again', async () => {
    await using receiver = await startReceiver();
    await using exchange = openExchange(receiver.port);
    for (let count = 0; count < 100; count += 1) await post(exchange);
    expect(receiver.requests).toHaveLength(100);
    expect(receiver.connections()).toBeLessThanOrEqual(5);
  });

  test('go to the next address of a name only while none was made', async () => {
    await using receiver = await startReceiver();
    const dialled: string[] = [];
    const result = await postTo(receiver.port, {
      url: 'http://two.example.net/hook',
      resolveName: async () => ['1.1.1.1', '1.0.0.1'],
      openSocket: standIn((address) => {
        dialled.push(address);
        return address === '1.0.0.1' ? receiver.port : 1;
      }),
    });
    expect(result).toMatchObject({ outcome: 'succeeded', address: '1.0.0.1' });
    expect(dialled).toEqual(['1.1.1.1', '1.0.0.1']);
    expect(receiver.requests[0]?.headers.host).toBe('two.example.net');
  });

  test('that are refused are a failure with the address', async () => {
    const result = await postTo(1);
    expect(result).toMatchObject({
      outcome: 'failed',
      error: 'connect_failed: ECONNREFUSED',
      address: '127.0.0.1',
    });
  });
});

describe('TLS', () => {
  const key = readFileSync(new URL('../../vectors/tls/receiver-key.pem', import.meta.url));
  const cert = readFileSync(new URL('../../vectors/tls/receiver-cert.pem', import.meta.url));

  test('with an unknown issuer is a failure', async () => {
    await using server = await startTlsReceiver();
    const result = await postTo(server.port, { url: HTTPS_URL });
    expect(result).toMatchObject({ outcome: 'failed', reason: 'tls_failed', status: null });
    expect(server.names).toEqual(['shop.receiver.example.com']);
  });

  test('is verified against the name of the URL, whatever address is dialled', async () => {
    await using server = await startTlsReceiver();
    const trusting: OpenSocket = (timeout) => buildConnector({ timeout, ca: cert, allowH2: false });
    const good = await postTo(server.port, { url: HTTPS_URL, openSocket: trusting });
    expect(good).toMatchObject({ outcome: 'succeeded', status: 200, address: '127.0.0.1' });
    const wrong = await postTo(server.port, {
      url: 'https://a.shop.receiver.example.com/hook',
      openSocket: trusting,
    });
    expect(wrong.error).toBe('tls_failed: ERR_TLS_CERT_ALTNAME_INVALID');
  });

  async function startTlsReceiver() {
    const names: string[] = [];
    const server = createTlsServer({
      key,
      cert,
      SNICallback: (name, done) => done(null, void names.push(name)),
    });
    server.on('secureConnection', (socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'));
    });
    server.on('tlsClientError', () => undefined);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const port = (server.address() as AddressInfo).port;
    return { port, names, [Symbol.asyncDispose]: async () => void server.close() };
  }
});

type PostOptions = { url?: string } & Partial<Parameters<typeof createExchange>[0]>;

async function postTo(port: number, options: PostOptions = {}): Promise<ExchangeResult> {
  await using exchange = openExchange(port, options);
  return await post(exchange, options.url);
}

function post(exchange: Exchange, url?: string): Promise<ExchangeResult> {
  return exchange.post({
    url: url ?? 'http://shop.receiver.example.com/hook',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from('{"id":"1"}'),
  });
}

function openExchange(port: number, options: PostOptions = {}): Exchange {
  return createExchange({
    timeoutMs: PATIENT_MS,
    resolveName: async () => [],
    devReceivers: [{ pattern: '*.receiver.example.com', target: { address: '127.0.0.1', port } }],
    isForbiddenAddress: () => false,
    ...options,
  });
}

/** Dials loopback at the port that stands in for an address. */
function standIn(portOf: (address: string) => number): OpenSocket {
  return (timeout) => {
    const connect = buildConnector({ timeout });
    return (options, callback) => {
      const port = String(portOf(options.hostname));
      connect({ ...options, hostname: '127.0.0.1', port }, callback);
    };
  };
}

function expectTimeout(result: ExchangeResult): void {
  expect(result).toMatchObject({ outcome: 'failed', reason: 'timeout', status: null });
  expect(result.durationMs).toBeGreaterThanOrEqual(TIMEOUT_MS - 10);
  expect(result.durationMs).toBeLessThan(TIMEOUT_MS + LATENESS_MS_MAX);
}

async function startRawServer(
  serve: (socket: Socket) => void,
  options = { waitForRequest: true },
): Promise<AsyncDisposable & { port: number }> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    if (options.waitForRequest) socket.once('data', () => serve(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function drip(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), DRIP_INTERVAL_MS);
  socket.on('close', () => clearInterval(timer));
}

function pour(socket: Socket, count: (bytes: number) => void): void {
  const chunk = `4000\r\n${'z'.repeat(0x4000)}\r\n`;
  const write = (): void => {
    while (!socket.destroyed && socket.write(chunk)) count(chunk.length);
    count(chunk.length);
  };
  socket.on('drain', write);
  write();
}
