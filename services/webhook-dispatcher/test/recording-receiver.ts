import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ownProcess } from '@pixmesh/testkit/owned-process';

import type { RecordedPost } from './verify-deliveries.ts';

const SCRIPT = fileURLToPath(new URL('run-recording-receiver.ts', import.meta.url));

export type RecordingReceiver = AsyncDisposable & {
  /** One port per sender, so that it knows whose a request is. */
  readonly ports: readonly number[];
  /** Requests that are open at this instant. */
  open(): Promise<number>;
  /** Every request that it saw begin. */
  posts(): Promise<RecordedPost[]>;
};

/**
 * All merchants' servers in a process of their own, which goes on writing down what arrives whatever happens to senders
 * and to the test. The first request of a `failingShare` of deliveries is answered 503.
 */
export async function startRecordingReceiver(options: {
  senders: number;
  failingShare: number;
}): Promise<RecordingReceiver> {
  const args = [String(options.senders), String(options.failingShare)];
  const child = ownProcess(fork(SCRIPT, args, { execArgv: [], silent: true }));
  const exited = once(child, 'exit');
  const [ports] = (await Promise.race([once(child, 'message'), exited])) as [number[] | number];
  if (!Array.isArray(ports)) throw new Error('the recording receiver did not start');
  return {
    ports,
    open: () => ask<number>('open'),
    posts: () => ask<RecordedPost[]>('posts'),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };

  /** One question at a time. */
  async function ask<T>(what: 'open' | 'posts'): Promise<T> {
    const answer = once(child, 'message') as Promise<[T]>;
    child.send(what);
    return (await answer)[0];
  }
}
