import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import type { Claims } from '@pixmesh/contracts/internal/caller-claims';
import { decodeClaims } from '@pixmesh/contracts/internal/claims-header';
import { INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import type { OwnerName } from '@pixmesh/contracts/internal/internal-routes';
import { PEER_HEADER_BYTES_MAX } from '@pixmesh/http/service-app';
import { serverTlsOf } from '@pixmesh/testkit/mesh-calls';

type OwnerRequest = {
  method: string;
  /** The request target as it came. */
  url: string;
  headers: NodeJS.Dict<string | string[]>;
  /** For whom the gateway says that it calls. */
  claims: Claims | null;
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
export async function startFakeOwner(owner: OwnerName): Promise<FakeOwner> {
  const requests: OwnerRequest[] = [];
  let answer: AnswerOwner = (response) => answerJson(response, 200, { body: { object: 'charge' } });
  const options = { ...serverTlsOf(owner), maxHeaderSize: PEER_HEADER_BYTES_MAX };
  const server = createServer(options, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const body = Buffer.concat(chunks);
      const received = { method, url, headers, claims: claimsIn(headers), body };
      requests.push(received);
      answer(response, received);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
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

function claimsIn(headers: OwnerRequest['headers']): Claims | null {
  const header = headers[INTERNAL_HEADERS.claims];
  return typeof header === 'string' ? decodeClaims(header) : null;
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
