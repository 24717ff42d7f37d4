import { Buffer } from 'node:buffer';

import type { z } from 'zod';

import { ExpectationError, shaped } from '../client/expectations.ts';
import type { Answer, HeaderValues, HttpClient } from '../client/http-client.ts';

type CallOptions = {
  headers?: HeaderValues;
  body?: unknown;
  /** Sent as it is, instead of `body`. */
  rawBody?: string;
  /** Another key than the merchant's; null sends none. */
  key?: string | null;
};

/** The calls of one key. */
export type ApiClient = ReturnType<typeof createApiClient>;

/** Every call carries the key and asks for JSON. */
export function createApiClient(deps: { http: HttpClient; url: string }, key: string) {
  /** Such as `call('GET /v1/balance')`. */
  async function call(route: string, options: CallOptions = {}): Promise<Answer> {
    const [method = 'GET', path = ''] = route.split(' ');
    const body = bodyOf(options);
    const sentKey = options.key === undefined ? key : options.key;
    return await deps.http.send({
      method,
      url: deps.url + path,
      headers: {
        ...(sentKey === null ? {} : { 'x-api-key': sentKey }),
        ...(body === null ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      body,
    });
  }

  /** What a path of `/v1` answers with 200, in its shape. */
  async function read<Schema extends z.ZodType>(path: string, schema: Schema) {
    const answer = await call(`GET /v1${path}`);
    return shaped(schema, bodyWith(answer, 200), answer.request);
  }

  return { call, read };
}

function bodyOf({ body, rawBody }: CallOptions): Buffer | null {
  const text = rawBody ?? JSON.stringify(body);
  return text === undefined ? null : Buffer.from(text);
}

/** The body of an answer that has to have this status. */
export function bodyWith(answer: Answer, status: number): unknown {
  if (answer.status === status) return answer.json;
  throw new ExpectationError(
    answer.request,
    `status ${status}`,
    `status ${answer.status} ${answer.text}`,
  );
}
