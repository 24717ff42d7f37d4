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
    const answer = await pool.request({
      method: request.method,
      path: request.path,
      headers: { accept: 'application/json', ...request.headers },
      body: request.body === undefined ? null : JSON.stringify(request.body),
      signal: request.signal,
    });
    const text = await readBounded(answer.body, request.answerBytesMax ?? ANSWER_BYTES_MAX);
    if (text === null) return { kind: 'no_answer', cause: 'oversize' };
    return { kind: 'answered', status: answer.statusCode, body: parseJson(text) };
  } catch {
    return { kind: 'no_answer', cause: causeOf(request.signal) };
  }
}

/** Null when the answer is larger than anything we read; leaving the loop closes its connection. */
async function readBounded(body: AsyncIterable<Buffer>, bytesMax: number): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > bytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function causeOf(signal: AbortSignal): NoAnswerCause {
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
