import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { PEER_HEADER_BYTES_MAX } from '@pixmesh/http/service-app';

type OwnerRequest = {
  method: string;
  /** The request target as it came. */
  url: string;
  headers: NodeJS.Dict<string | string[]>;
  body: Buffer;
};

type AnswerOwner = (response: ServerResponse, request: OwnerRequest) => void;

export type FakeOwner = AsyncDisposable & {
  readonly url: string;
  readonly requests: OwnerRequest[];
  /** How requests are answered from now on. */
  answerWith(answer: AnswerOwner): void;
};

/** A stand-in for the process of another service: records what reaches it and answers as configured. */
export async function startFakeOwner(): Promise<FakeOwner> {
  const requests: OwnerRequest[] = [];
  let answer: AnswerOwner = (response) => answerJson(response, 200, { body: { object: 'charge' } });
  const server = createServer({ maxHeaderSize: PEER_HEADER_BYTES_MAX }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const received = { method, url, headers, body: Buffer.concat(chunks) };
      requests.push(received);
      answer(response, received);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answerWith: (next) => {
      answer = next;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers as an owner does; `headers` come on top. */
export function answerJson(
  response: ServerResponse,
  status: number,
  { body, headers = {} }: { body: object; headers?: Record<string, string> },
): void {
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
    .end(JSON.stringify(body));
}
