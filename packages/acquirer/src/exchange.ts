import { AnswerTooLargeError, requestWhole } from '@pixmesh/http/whole-answer';
import type { Dispatcher, Pool } from 'undici';

/**
 * The largest answer that is read, unless a call says otherwise; a charge with a hundred received Pix stays far below.
 */
export const ANSWER_BYTES_MAX = 256 * 1024;

/** Why there is no answer to read: a word for logs and metrics. */
export type NoAnswerCause = 'timeout' | 'aborted' | 'connection' | 'oversize';

/** `body` is undefined where it is not JSON. */
export type Exchange =
  | { kind: 'answered'; status: number; body: unknown }
  | { kind: 'no_answer'; cause: NoAnswerCause };

export type ExchangeRequest = {
  method: Dispatcher.HttpMethod;
  path: string;
  headers: Record<string, string>;
  body?: object;
  answerBytesMax?: number;
  signal: AbortSignal;
};

/**
 * One request and its whole answer under the caller's signal. Redirects are answers like others: following
 * one would send credentials elsewhere.
 */
export async function exchange(pool: Pool, request: ExchangeRequest): Promise<Exchange> {
  try {
    const { method, path, signal } = request;
    const headers = { accept: 'application/json', ...request.headers };
    const body = request.body === undefined ? null : JSON.stringify(request.body);
    const bytesMax = request.answerBytesMax ?? ANSWER_BYTES_MAX;
    const answer = await requestWhole(pool, { method, path, headers, body }, { signal, bytesMax });
    return {
      kind: 'answered',
      status: answer.status,
      body: parseJson(answer.body.toString('utf8')),
    };
  } catch (error) {
    return { kind: 'no_answer', cause: causeOf(error, request.signal) };
  }
}

function causeOf(error: unknown, signal: AbortSignal): NoAnswerCause {
  if (error instanceof AnswerTooLargeError) return 'oversize';
  if (!signal.aborted) return 'connection';
  const { name } = signal.reason as { name?: string };
  return name === 'TimeoutError' ? 'timeout' : 'aborted';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
