import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

type PausableProxy = AsyncDisposable & {
  readonly port: number;
  /** Connections taken so far. */
  connections(): number;
  /** From now on bytes are taken and held back: the other side looks alive and answers nothing. */
  pause(): void;
  resume(): void;
};

/** A TCP relay to another server that can fall silent without closing a connection. */
export async function startPausableProxy(target: { host: string; port: number }) {
  const answers = new Set<{ near: Socket; far: Socket }>();
  let taken = 0;
  let paused = false;
  const server = createServer((near) => {
    taken += 1;
    const far = connect(target);
    const pair = { near, far };
    answers.add(pair);
    near.pipe(far);
    if (!paused) far.pipe(near);
    for (const socket of [near, far]) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        answers.delete(pair);
        near.destroy();
        far.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => taken,
    pause: () => {
      paused = true;
      for (const { near, far } of answers) far.unpipe(near).pause();
    },
    resume: () => {
      paused = false;
      for (const { near, far } of answers) far.pipe(near);
    },
    [Symbol.asyncDispose]: async () => {
      for (const { near, far } of answers) {
        near.destroy();
        far.destroy();
      }
      await new Promise((resolve) => server.close(resolve));
    },
  } satisfies PausableProxy;
}
