import { sendRaw } from '@pixmesh/http/testing/raw-request';
import { afterAll, beforeAll, expect } from 'vitest';

import { answerJson } from './start-fake-owner.ts';
import { startTestGateway } from './start-test-gateway.ts';

const OWNER_404 = { code: 'CHARGE_NOT_FOUND', message: 'Charge not found.', details: [] };
export const IDEMPOTENT = 'Idempotency-Key: order-0001';

/** One exchange: what is written on the socket, and the expected answer. */
export type RawCase = {
  name: string;
  /** Whose key goes along; the reader's has the scope `charge:read` alone. */
  as?: 'merchant' | 'reader' | 'anonymous';
  method?: string;
  target?: string;
  version?: string;
  headers?: readonly string[];
  body?: string;
  /** Bytes as they are, in place of all of the above. */
  raw?: string | Buffer;
  status: number;
  code?: string;
  details?: readonly string[];
  allow?: string;
  /** The target that the owner is asked for; absent: no owner is asked. */
  reaches?: string;
  /** Media type and content coding that the owner gets; absent: not compared. */
  forwarded?: { type?: string; coding?: string };
  /** The connection ends with the answer. */
  closes?: true;
};

type RawEdge = AsyncDisposable & {
  readonly port: number;
  /** Sends a case to the public listener and compares the whole answer. */
  expectAnswer(sent: RawCase): Promise<void>;
};

/** An id that the owners do not know. */
export const UUID = '019f3a52-1b2c-7d3e-8f4a-5b6c7d8e9f00';

/** What the edge answers by itself in more than one case. */
export const NOT_FOUND = { status: 404, code: 'NOT_FOUND' } as const;
export const OWNERS_404 = { status: 404, code: 'CHARGE_NOT_FOUND' } as const;
export const UNAUTHORIZED = { status: 401, code: 'UNAUTHORIZED' } as const;

export function invalid(detail: string) {
  return { status: 400, code: 'VALIDATION_ERROR', details: [detail] } as const;
}

/** Nobody can tell where the next request would begin. */
export function unread(detail: string) {
  return { ...invalid(detail), closes: true } as const;
}

/** One gateway for all tests of a file, as their body: `test.each(cases)('$name', edge.expectAnswer)`. */
export function useRawEdge(): { expectAnswer: RawEdge['expectAnswer']; port: () => number } {
  let started: RawEdge;
  beforeAll(async () => {
    started = await startRawEdge();
  });
  afterAll(() => started[Symbol.asyncDispose]());
  return { expectAnswer: (sent) => started.expectAnswer(sent), port: () => started.port };
}

/** A gateway whose owners answer 404 to everything, so that the answer shows what reaches one. */
async function startRawEdge(): Promise<RawEdge> {
  const gateway = await startTestGateway();
  const { key: merchant } = await gateway.createTenant();
  const { key: reader } = await gateway.createTenant({ scopes: ['charge:read'] });
  const keys = { merchant, reader, anonymous: null };
  const owners = Object.values(gateway.owners);
  for (const owner of owners) {
    owner.answerWith((response) => answerJson(response, 404, { body: OWNER_404 }));
  }
  return {
    port: gateway.ports.public,
    expectAnswer,
    [Symbol.asyncDispose]: gateway[Symbol.asyncDispose],
  };

  async function expectAnswer(sent: RawCase): Promise<void> {
    for (const { requests } of owners) requests.length = 0;
    const answer = await sendRaw(gateway.ports.public, render(sent, keys));
    const body = answer.body === '' ? null : (JSON.parse(answer.body) as Record<string, unknown>);
    expect({
      status: answer.status,
      code: body?.['code'],
      details: body?.['details'],
      allow: /^allow: (.*)$/m.exec(answer.head)?.[1]?.trim(),
      asked: owners.flatMap(({ requests }) => requests.map(({ url }) => url)),
      closes: answer.head.includes('connection: close') ? true : undefined,
    }).toEqual({
      status: sent.status,
      code: sent.code,
      details: sent.code === undefined ? undefined : (sent.details ?? []),
      allow: sent.allow,
      asked: sent.reaches === undefined ? [] : [sent.reaches],
      closes: sent.closes,
    });
    if (sent.forwarded !== undefined) {
      const received = owners.flatMap(({ requests }) => requests.map(({ headers }) => headers));
      expect(
        received.map((headers) => [headers['content-type'], headers['content-encoding']]),
      ).toEqual([[sent.forwarded.type, sent.forwarded.coding]]);
    }
    expect(answer.head).toMatch(/x-request-id: [0-9a-f-]{36}/);
    expect(answer.head).toContain('cache-control: no-store');
    expect(answer.head).toContain('content-type: application/json; charset=utf-8');
  }
}

function render(
  sent: RawCase,
  keys: Record<NonNullable<RawCase['as']>, string | null>,
): string | Buffer {
  if (sent.raw !== undefined) return sent.raw;
  const key = keys[sent.as ?? 'merchant'];
  const lines = [
    `${sent.method ?? 'GET'} ${sent.target ?? '/v1/charges'} HTTP/${sent.version ?? '1.1'}`,
    'Host: a',
    ...(key === null ? [] : [`x-api-key: ${key}`]),
    ...(sent.headers ?? []).map((line) => line.replace('{key}', key ?? '')),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${sent.body ?? ''}`;
}

/** A `POST /v1/charges` with these headers; its length is added where they do not frame it. */
export function creation(headers: readonly string[], body = '{}') {
  const length = headers.some((line) => /^transfer-encoding|^content-length/i.test(line))
    ? []
    : [`Content-Length: ${Buffer.byteLength(body)}`];
  return {
    method: 'POST',
    target: '/v1/charges',
    headers: [IDEMPOTENT, ...headers, ...length],
    body,
  };
}
