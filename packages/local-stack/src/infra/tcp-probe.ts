import { connect } from 'node:net';

const PROBE_LIMIT_MS = 1_000;
const ANSWER_BYTES_MAX = 64 * 1024;

/** True when something accepts a connection there. */
export async function acceptsConnection(port: number): Promise<boolean> {
  return (await exchange(port, undefined, () => true)) !== undefined;
}

/** Sends a line and collects the answer until it satisfies `isWhole`; undefined when it never does. */
function exchange(
  port: number,
  request: string | undefined,
  isWhole: (answer: string) => boolean,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect({ port, host: '127.0.0.1' });
    const finish = (result: string | undefined) => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(PROBE_LIMIT_MS, () => finish(undefined));
    socket.once('error', () => finish(undefined));
    socket.once('close', () => finish(undefined));
    socket.once('connect', () => {
      if (request === undefined) finish('');
      else socket.write(request);
    });
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
      if (isWhole(answer) || answer.length > ANSWER_BYTES_MAX) finish(answer);
    });
  });
}
