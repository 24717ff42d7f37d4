import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

type PausableProxy = AsyncDisposable & {
  readonly port: number;
  /** Connections taken so far. */
  connections(): number;
  /** From now on bytes are taken and held back: the other side looks alive and answers nothing. */
  pause(): void;
  /** Ends all connections, and each new one at once. */
  cut(): void;
  /** After `pause` or `cut`. */
  resume(): void;
};

/** A TCP relay to another server that can fall silent without closing a connection, or close them all. */
export async function startPausableProxy(target: { host: string; port: number }) {
  const answers = new Set<{ near: Socket; far: Socket }>();
  let taken = 0;
  let paused = false;
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) {
      near.destroy();
      return;
    }
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
    cut: () => {
      isCut = true;
      for (const { near } of answers) near.destroy();
    },
    resume: () => {
      isCut = false;
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
