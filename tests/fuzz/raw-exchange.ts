import { connect } from 'node:net';

/** One answer out of the bytes of a connection. */
type RawAnswer = { status: number; headers: Record<string, string>; text: string };

export type Exchange = {
  answers: RawAnswer[];
  /** Bytes that are no HTTP answer: there may be none. */
  rest: string;
};

/** A server that says nothing for so long waits for more of the request; the client gives up then. */
const SILENCE_MS = 400;

/** By then the server has to have let go of a connection that its client has ended. */
const CLOSE_MS_MAX = 5_000;

/** Writes bytes on a connection of its own and reads until the server closes it. */
export async function exchangeBytes(port: number, bytes: Uint8Array): Promise<Exchange> {
  const chunks: Buffer[] = [];
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const late = setTimeout(() => {
      reject(new Error('the server kept a connection open that its client had ended'));
      socket.destroy();
    }, CLOSE_MS_MAX);
    socket.setTimeout(SILENCE_MS, () => socket.end());
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    // A reset is a close too: the server may be rid of a request before it has read all of it.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      clearTimeout(late);
      resolve();
    });
    socket.write(bytes);
  });
  return readAnswers(Buffer.concat(chunks).toString('latin1'));
}

const HEAD = /^HTTP\/1\.[01] (\d{3}) [^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/;

/** Splits what a server wrote into its answers; interim ones (1xx) are left out. */
export function readAnswers(text: string): Exchange {
  const answers: RawAnswer[] = [];
  let rest = text;
  for (let head = HEAD.exec(rest); head !== null; head = HEAD.exec(rest)) {
    const [whole, status = '', lines = ''] = head;
    const headers = Object.fromEntries(
      lines
        .split('\r\n')
        .filter((line) => line !== '')
        .map((line) => [
          line.slice(0, line.indexOf(':')).toLowerCase(),
          line.slice(line.indexOf(':') + 1).trim(),
        ]),
    );
    const length = Number(headers['content-length'] ?? 0);
    const body = rest.slice(whole.length, whole.length + length);
    rest = rest.slice(whole.length + length);
    if (!status.startsWith('1')) answers.push({ status: Number(status), headers, text: body });
  }
  return { answers, rest };
}
