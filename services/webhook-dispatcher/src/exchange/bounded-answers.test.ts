import { Socket } from 'node:net';

import { expect, test } from 'vitest';

import { boundAnswers } from './bounded-answers.ts';

const INFORMATIONAL = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
const FINAL = 'HTTP/1.1 200 OK\r\nserver: x\r\n\r\n';

/** One that is never connected. Its own `_read` would wait for that with one listener more at each read. */
function aSocket(): Socket {
  const socket = Object.assign(new Socket(), { _read: () => undefined });
  return socket.on('error', () => undefined);
}

/** Reads a bounded socket into which these pieces came one after the other; null when it was cut. */
function readAnswer(pieces: Iterable<string>): string | null {
  const socket = aSocket();
  boundAnswers(socket);
  let text = '';
  for (const piece of pieces) {
    socket.push(piece);
    for (let read = readPiece(socket); read !== ''; read = readPiece(socket)) text += read;
    if (socket.destroyed) return null;
  }
  return text;
}

function readPiece(socket: Socket): string {
  return (socket.read() as Buffer | null)?.toString('latin1') ?? '';
}

test.each([
  ['a body of thousands of lines', FINAL + '\n'.repeat(5_000)],
  [
    'the same after informational heads',
    INFORMATIONAL + INFORMATIONAL + FINAL + '\n'.repeat(5_000),
  ],
  ['empty lines before the head', `\r\n\r\n${FINAL}${'\n'.repeat(5_000)}`],
])('an answer with %s is read whole, at once and byte by byte', (_, answer) => {
  expect(readAnswer([answer])).toBe(answer);
  expect(readAnswer(answer)).toBe(answer);
});

test('an interim 100 is read as another informational head, at once and byte by byte', () => {
  const interim = (status: number) => `HTTP/1.1 ${status} Continue\r\nx: HTTP/1.1 100\r\n\r\n`;
  const rest = `${FINAL}HTTP/1.1 100 is a body\n`;
  const answer = `\r\n${interim(100)}${interim(103)}${interim(100)}${rest}`;
  const read = `\r\n${interim(102)}${interim(103)}${interim(102)}${rest}`;
  expect(readAnswer([answer])).toBe(read);
  expect(readAnswer(answer)).toBe(read);
});

test.each([
  ['a head of thousands of lines', `HTTP/1.1 200 OK\r\n${'a:\r\n'.repeat(5_000)}`],
  ['thousands of informational heads', INFORMATIONAL.repeat(2_000)],
  ['a line of blanks, which ends no head', `HTTP/1.1 200 OK\r\n \r\n${'a:\r\n'.repeat(5_000)}`],
])('an answer with %s is cut, at once and byte by byte', (_, answer) => {
  expect(readAnswer([answer])).toBeNull();
  expect(readAnswer(answer)).toBeNull();
});

test.each([
  ['each after a request of its own, are bounded apart', 1, false],
  ['without a request between them, are one answer and cut', 0, true],
])('three answers of 100 KB, %s', (_, written, isCut) => {
  const socket = aSocket();
  let bytesWritten = 0;
  Object.defineProperty(socket, 'bytesWritten', { get: () => bytesWritten });
  boundAnswers(socket);
  for (let count = 0; count < 3; count += 1) {
    bytesWritten += written;
    socket.push(FINAL + 'z'.repeat(100 * 1024));
    while (readPiece(socket) !== '');
  }
  expect(socket.destroyed).toBe(isCut);
});
