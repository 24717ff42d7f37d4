import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { checkRequest } from './check-exchange.ts';
import type { Acquirer } from '../acquirer.ts';
import { type ClientTls, createAcquirer } from '../client.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

type ReceivedCall = {
  method: string;
  url: string;
  authorization: string;
  headers: IncomingHttpHeaders;
  body: string;
};

/**
 * A provider whose every answer a test writes by hand. It holds each request against the Central Bank's document, and
 * its end throws where one deviates.
 */
export type TestProvider = AsyncDisposable & {
  readonly url: string;
  tokensIssued: number;
  /** What was called, without the calls for tokens. */
  readonly calls: ReceivedCall[];
  answerToken: Handler;
  answerCall: Handler;
  connect(timeoutMs: number, tls?: ClientTls): Acquirer;
};

/** @param tls where it asks for client certificates that `ca` has signed */
export async function startTestProvider(tls?: ClientTls): Promise<TestProvider> {
  const onRequest = (request: IncomingMessage, response: ServerResponse): void =>
    void receive(request, response);
  const server = tls
    ? createTlsServer({ ...tls, requestCert: true, rejectUnauthorized: true }, onRequest)
    : createServer(onRequest);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const deviations: string[] = [];
  const provider: TestProvider = {
    url,
    tokensIssued: 0,
    calls: [],
    answerToken: (_, response) => {
      provider.tokensIssued += 1;
      json(response, 200, { access_token: `token-${provider.tokensIssued}`, expires_in: 3600 });
    },
    answerCall: (_, response) => json(response, 500, {}),
    connect: (timeoutMs, clientTls) =>
      createAcquirer({
        url,
        clientId: 'client',
        clientSecret: 'secret',
        pixKey: 'key',
        timeoutMs,
        tls: clientTls,
      }),
    [Symbol.asyncDispose]: async () => {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      if (deviations.length > 0) throw new Error(`requests deviate:\n${deviations.join('\n')}`);
    },
  };
  return provider;

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/oauth/token') return provider.answerToken(request, response);
    const { method = '', url = '', headers } = request;
    const authorization = headers.authorization ?? '';
    const body = await text(request);
    provider.calls.push({ method, url, authorization, headers, body });
    deviations.push(...checkRequest({ method, url, body }));
    provider.answerCall(request, response);
  }
}

export function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** An error in Efí's form. */
export function efi(response: ServerResponse, status: number, nome: string): void {
  json(response, status, { nome, mensagem: 'Problema' });
}

/** An error in the form of API Pix. */
export function apiPix(response: ServerResponse, status: number, name: string): void {
  const type = `https://pix.bcb.gov.br/api/v2/error/${name}`;
  json(response, status, { type, title: 'Problema', status });
}

/** Never silent for long, and never done: only a deadline over the whole answer ends it. */
const DRIP_EVERY_MS = 20;

function drip(response: ServerResponse, status: number): void {
  response.writeHead(status).write('{"status":"');
  const timer = setInterval(() => response.write('x'), DRIP_EVERY_MS);
  response.on('close', () => clearInterval(timer));
}

/** Answers that no schema can save, with the cause that the client gives; `done` is a status of success. */
export function hostileAnswers(done: number, bytesMax: number): [string, string, Handler][] {
  return [
    ['HTML', 'unreadable', (_, r) => void r.writeHead(done).end('<html>')],
    ['an empty body', 'unreadable', (_, r) => void r.writeHead(done).end()],
    ['a list', 'unreadable', (_, r) => json(r, done, [])],
    ['null', 'unreadable', (_, r) => json(r, done, null)],
    ['bytes that are no text', 'unreadable', (_, r) => void r.end(Buffer.from([0xff, 0x00]))],
    ['no answer', 'timeout', () => undefined],
    ['a reset', 'connection', (q) => q.socket.resetAndDestroy()],
    [
      'half an answer',
      'connection',
      (q, r) => {
        r.writeHead(done, { 'content-length': '500' }).write('{"idEnvio":');
        setImmediate(() => q.socket.destroy());
      },
    ],
    ['a slow body', 'timeout', (_, r) => void r.writeHead(done).write('{"idEnvio":')],
    ['a body that drips', 'timeout', (_, r) => drip(r, done)],
    [
      'more than is read',
      'oversize',
      (_, r) => void r.writeHead(done).end(' '.repeat(bytesMax + 1)),
    ],
    ['a redirect', 'status_302', (_, r) => void r.writeHead(302, { location: '/other' }).end()],
    [
      'a redirect that keeps its method',
      'status_307',
      (_, r) => void r.writeHead(307, { location: '/other' }).end(),
    ],
    ['401', 'status_401', (_, r) => json(r, 401, {})],
    ['403', 'status_403', (_, r) => apiPix(r, 403, 'AcessoNegado')],
    ['a bare 404', 'status_404', (_, r) => json(r, 404, { message: 'Route not found' })],
    ['408', 'status_408', (_, r) => efi(r, 408, 'pagamento_negado')],
    ['a conflict', 'status_409', (_, r) => efi(r, 409, 'valor_invalido')],
    ['too many requests', 'status_429', (_, r) => efi(r, 429, 'valor_invalido')],
    ['a 400 in no known form', 'status_400', (_, r) => json(r, 400, { error: 'bad request' })],
    ['a failure', 'status_500', (_, r) => efi(r, 500, 'pagamento_negado')],
    ['a gateway', 'status_502', (_, r) => void r.writeHead(502).end('<html>')],
  ];
}
