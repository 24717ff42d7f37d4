import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';

import type { FastifyInstance } from 'fastify';

export type RawAnswer = { status: number; head: string; body: string; closed: boolean };

const READ_TIMEOUT_MS = 8_000;

export async function listen(app: FastifyInstance): Promise<number> {
  await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as AddressInfo).port;
}

/** Writes bytes as they are and reads one answer; HTTP clients refuse to send most of what is wrong. */
export async function sendRaw(port: number, text: string | Buffer): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const chunks: Buffer[] = [];
  const ended = new Promise<boolean>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (isComplete(finalAnswer(Buffer.concat(chunks)))) setImmediate(() => resolve(false));
    });
    socket.on('end', () => resolve(true));
    socket.on('close', () => resolve(true));
    socket.on('error', () => resolve(true));
    socket.setTimeout(READ_TIMEOUT_MS, () => socket.destroy());
  });
  socket.write(text);
  const closed = await ended;
  socket.destroy();
  const [head = '', body = ''] = finalAnswer(Buffer.concat(chunks)).split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head: head.toLowerCase(), body, closed };
}

/** Writes bytes as they are and reads until the server closes: the status of every answer. */
export async function sendInRow(port: number, text: string): Promise<number[]> {
  const socket = connect(port, '127.0.0.1');
  socket.setTimeout(READ_TIMEOUT_MS, () => socket.destroy());
  socket.write(text);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const answers = Buffer.concat(chunks).toString();
  return [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

/** What comes after an invitation to send the body. */
function finalAnswer(bytes: Buffer): string {
  return bytes.toString().replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
}

function isComplete(text: string): boolean {
  const [head = '', body] = text.split('\r\n\r\n');
  const length = /content-length: (\d+)/i.exec(head)?.[1];
  return body !== undefined && length !== undefined && Buffer.byteLength(body) >= Number(length);
}
