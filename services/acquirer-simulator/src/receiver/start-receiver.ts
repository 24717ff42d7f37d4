import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { toErrorAnswer } from '@pixmesh/http/error-reply';
import type { Queryable } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { planAnswer } from './behaviour.ts';
import { type Behaviours, loadBehaviours } from './behaviours.ts';
import { answerControl, behaviourPath, type ControlAnswer } from './receiver-control.ts';
import { receiverMeant } from './receiver-hosts.ts';
import { createRequestRecorder, type RecordRequest } from './record-requests.ts';
import { sendPlannedAnswer } from './send-planned-answer.ts';

export type Receiver = AsyncDisposable & { readonly url: string };

type Options = {
  db: Queryable;
  settings: Queryable;
  logger: Logger;
  host: string;
  port: number;
};

/** More of a body is read and dropped. */
const BODY_BYTES_MAX = 1024 * 1024;
const FOREIGN_HOST: ControlAnswer = {
  status: 403,
  body: {
    code: 'FORBIDDEN',
    message: 'This receiver answers to loopback addresses and to names below receiver.example.com.',
    details: ['host'],
  },
};
/** Longer than senders keep idle connections, so that they are the ones who close. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

/**
 * The development receiver of webhooks: records every request durably, then answers as its path was told to.
 * Plain `node:http`, because it has to hang, drip and answer nonsense.
 */
export async function startReceiver(options: Options): Promise<Receiver> {
  const behaviours = await loadBehaviours(options.settings);
  const record = createRequestRecorder(options.db);
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS }, (request, response) => {
    void answer(request, response).catch((error: unknown) => fail(response, error));
  });
  server.listen(options.port, options.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${options.host}:${port}`,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const meant = receiverMeant(request.headers.host, options.host);
    if (meant === 'none') return sendControl(response, FOREIGN_HOST);
    const body = await readBody(request);
    const control =
      meant === 'itself'
        ? await answerControl({ db: options.db, behaviours }, request, body)
        : null;
    if (control !== null) return sendControl(response, control);
    await recordAndAnswer({ behaviours, record }, { request, response, body });
  }

  function fail(response: ServerResponse, error: unknown): void {
    const { status, body } = toErrorAnswer(error);
    if (status >= 500) options.logger.warn({ err: error }, 'receiver failed');
    if (response.headersSent) return void response.destroy();
    sendControl(response, { status, body });
  }
}

async function recordAndAnswer(
  deps: { behaviours: Behaviours; record: RecordRequest },
  exchange: { request: IncomingMessage; response: ServerResponse; body: Buffer },
): Promise<void> {
  const { method = '', url = '/', headers } = exchange.request;
  const receivedAt = new Date();
  const plan = planAnswer(await deps.behaviours.take(behaviourPath(url)));
  await deps.record({
    method,
    host: headers.host ?? '',
    path: url,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
    ),
    body: exchange.body,
    receivedAt,
    answeredStatus: plan.status,
  });
  await sendPlannedAnswer(exchange.response, plan);
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (size < BODY_BYTES_MAX) chunks.push(chunk);
    size += chunk.length;
  }
  return Buffer.concat(chunks).subarray(0, BODY_BYTES_MAX);
}

function sendControl(response: ServerResponse, { status, body }: ControlAnswer): void {
  if (body === undefined) return void response.writeHead(status).end();
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(text);
}
