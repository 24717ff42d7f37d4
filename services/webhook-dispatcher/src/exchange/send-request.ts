import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import type { Dispatcher } from 'undici';

import type { AttemptFailure } from './attempt-failure.ts';
import type { Deadline } from './deadline.ts';
import { createExcerpt } from './excerpt.ts';

type SentRequest = { url: URL; headers: Readonly<Record<string, string>>; body: Buffer };
export type Answer = { status: number; responseExcerpt: string };

/** The first status of a final answer; those below are informational (RFC 9110, 15.2). */
const FINAL_STATUS_MIN = 200;

/**
 * Sends one request and reads its answer as far as it is kept. Once the head is complete nothing fails any
 * more: a reset, junk, the bound or the deadline merely ends the excerpt. Before it, the first fault or the
 * deadline is the outcome, and a request that waits for its connection then is never sent.
 */
export function sendRequest(
  pool: Dispatcher,
  request: SentRequest,
  deadline: Deadline,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const handler = createAnswerHandler({ resolve, reject });
    deadline.onPassed(handler.cut);
    // Outside the active trace: a merchant gets no header of our tracing, and the span of the delivery
    // stands for the request.
    context.with(ROOT_CONTEXT, () =>
      pool.dispatch(
        {
          method: 'POST',
          path: `${request.url.pathname}${request.url.search}`,
          origin: request.url.origin,
          headers: request.headers,
          body: request.body,
        },
        handler,
      ),
    );
  });
}

type Settle = { resolve: (answer: Answer) => void; reject: (error: unknown) => void };
type AnswerHandler = Dispatcher.DispatchHandler & { cut(failure: AttemptFailure): void };

/**
 * Below `Pool.request` on purpose: that makes a stream, an abort signal and three promises for each answer,
 * which cost more CPU than all else here, and its stream would buffer beyond the excerpt.
 */
function createAnswerHandler({ resolve, reject }: Settle): AnswerHandler {
  const excerpt = createExcerpt();
  let status: number | null = null;
  let cutBy: AttemptFailure | null = null;
  let sending: Dispatcher.DispatchController | null = null;
  return {
    onRequestStart: (controller) => {
      sending = controller;
      if (cutBy !== null) controller.abort(cutBy);
    },
    onResponseStart: (_controller, statusCode) => {
      if (statusCode >= FINAL_STATUS_MIN) status = statusCode;
    },
    onResponseData: (controller, chunk) => {
      if (excerpt.add(chunk)) return;
      end();
      // The parser stops here; the socket is dropped once it has returned.
      controller.pause();
      queueMicrotask(() => controller.abort(new Error('the excerpt is complete')));
    },
    onResponseEnd: end,
    onResponseError: (_controller, error) => end(error),
    cut: (failure) => {
      cutBy = failure;
      end(failure);
      sending?.abort(failure);
    },
  };

  /** Only the first call counts. */
  function end(error?: unknown): void {
    if (status === null) reject(error);
    else resolve({ status, responseExcerpt: excerpt.text() });
  }
}
