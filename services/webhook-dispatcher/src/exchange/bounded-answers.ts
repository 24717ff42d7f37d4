import type { Socket } from 'node:net';

import { AttemptFailure } from './attempt-failure.ts';

/**
 * Bytes of one answer that are parsed at all, several times what a head and an excerpt may take. Informational
 * heads, trailers and the extensions of chunks count towards no other limit, and could be poured for as long
 * as the deadline lets them.
 */
const ANSWER_BYTES_MAX = 256 * 1024;

/**
 * Lines of an answer's heads, informational ones included. The parser keeps two objects for each header until
 * the head is complete: thousands of empty headers held 3 MB per request.
 */
const HEAD_LINES_MAX = 512;

/**
 * Bytes that the parser gets at a time. It goes on to the end of what it was given, also after a limit is
 * passed, and makes an error with a stack for each header beyond it: 64 KiB of tiny headers, as a socket
 * reads them, stalled the whole process for more than half a second.
 */
const PIECE_BYTES_MAX = 2 * 1024;

const LINE_END = 0x0a;
/** Enough of a line to see its status, or that it is empty. */
const LINE_START_BYTES = 16;
/** `HTTP/1.1 1xx`: another head follows. */
const INFORMATIONAL = /^HTTP\/\d\.\d 1/;
/** `HTTP/1.1 100`, and the place and replacement of its last digit. */
const CONTINUE = /^HTTP\/\d\.\d 100/;
const LAST_DIGIT_PLACE = 11;
const DIGIT_TWO = 0x32;

type Progress = {
  bytes: number;
  headLines: number;
  /** Lines of a body have no bound. */
  isInHead: boolean;
  /** The first line of the head that is being read; empty before it. */
  statusLine: string;
  /** The beginning of the line that is being read. */
  line: string;
};

/**
 * Lets the parser read a socket in small pieces, none after it has been destroyed, and no more of one answer
 * than is bounded. The client pulls by `read()` alone; pipelining is off, so what has been read since the
 * last write belongs to one answer.
 *
 * The client refuses a `100 Continue` that it has not asked for, though any receiver may send it (RFC 9110, 15.2). It
 * gets 102 instead, which it passes over as every other informational head.
 */
export function boundAnswers(socket: Socket): void {
  const read = socket.read.bind(socket);
  let written = -1;
  let progress = startAnswer();
  socket.read = (size?: number) => {
    if (socket.destroyed) return null;
    if (socket.bytesWritten !== written) [written, progress] = [socket.bytesWritten, startAnswer()];
    if (isTooLong(progress)) {
      socket.destroy(new AttemptFailure('bad_response', 'the answer is too long'));
      return null;
    }
    const piece = readPiece(read, size ?? Math.min(socket.readableLength, PIECE_BYTES_MAX));
    if (piece !== null) count(progress, piece);
    return piece;
  };
}

function startAnswer(): Progress {
  return { bytes: 0, headLines: 0, isInHead: true, statusLine: '', line: '' };
}

function isTooLong({ bytes, headLines, isInHead }: Progress): boolean {
  return bytes > ANSWER_BYTES_MAX || (isInHead && headLines > HEAD_LINES_MAX);
}

function count(progress: Progress, piece: Buffer): void {
  progress.bytes += piece.length;
  let start = 0;
  while (progress.isInHead && start < piece.length) {
    const end = piece.indexOf(LINE_END, start);
    const stop = end === -1 ? piece.length : end;
    const text = piece.toString('latin1', start, Math.min(stop, start + LINE_START_BYTES));
    const lastDigit = start + LAST_DIGIT_PLACE - progress.line.length;
    progress.line = (progress.line + text).slice(0, LINE_START_BYTES);
    if (lastDigit >= start && progress.statusLine === '' && CONTINUE.test(progress.line)) {
      piece[lastDigit] = DIGIT_TWO;
    }
    if (end !== -1) endLine(progress);
    start = stop + 1;
  }
}

/** A head ends with an empty line, and the last head of an answer is not informational. */
function endLine(progress: Progress): void {
  const { line } = progress;
  const isEmpty = line === '' || line === '\r';
  progress.headLines += 1;
  progress.line = '';
  if (!isEmpty && progress.statusLine === '') progress.statusLine = line;
  if (!isEmpty || progress.statusLine === '') return;
  progress.isInHead = INFORMATIONAL.test(progress.statusLine);
  progress.statusLine = '';
}

/** With nothing buffered the plain call remains, which also asks for more. */
function readPiece(read: (size?: number) => unknown, size: number): Buffer | null {
  const piece: unknown = size === 0 ? read() : read(size);
  return Buffer.isBuffer(piece) ? piece : null;
}
