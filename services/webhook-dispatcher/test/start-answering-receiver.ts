import type { ServerResponse } from 'node:http';

import { answerWith, type Receiver, startReceiver } from './start-receiver.ts';

export type AnsweringReceiver = Receiver & {
  /** Answers what is out. */
  answerAll(status?: number): void;
  /** Answers what is out, and from now on every request as soon as it has come. */
  answerFromNowOn(): void;
  /** The most requests that were out at once. */
  mostOut(): number;
};

/** Answers when the test says so, and counts what is out meanwhile. */
export async function startAnsweringReceiver(): Promise<AnsweringReceiver> {
  const out = new Set<ServerResponse>();
  let isAtOnce = false;
  let most = 0;
  const receiver = await startReceiver((_request, response) => {
    out.add(response);
    most = Math.max(most, out.size);
    if (isAtOnce) setImmediate(answerAll);
  });
  return {
    ...receiver,
    answerAll,
    answerFromNowOn: () => {
      isAtOnce = true;
      answerAll();
    },
    mostOut: () => most,
  };

  function answerAll(status = 200): void {
    for (const response of out) {
      out.delete(response);
      answerWith(status)({} as never, response);
    }
  }
}
