import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';

/** Most bytes that are read back from a log at once. */
const READ_BYTES_MAX = 1024 * 1024;
const TAIL_BYTES = 16 * 1024;
const SHOWN_LOG_LINES = 15;

export interface LogFile {
  path: string;
  /** Opens the file for appending, for as long as it takes to hand the descriptor to a child. */
  lend<T>(spawn: (descriptor: number) => T): T;
  size(): number;
  /** What was written since `offset`, at most one megabyte of it. */
  readFrom(offset: number): string;
  /** The last megabyte of what was written since `offset`: a broker with many topics says a lot at its start. */
  tailSince(offset: number): string;
  /** As many as a failure shows. */
  lastLines(): string[];
}

/** `<home>/logs/<name>.log`; the previous run's file is kept once, as `<name>.previous.log`. */
export function createLogFile(home: string, name: string): LogFile {
  const folder = join(home, 'logs');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name}.log`);
  if (existsSync(path)) renameSync(path, join(folder, `${name}.previous.log`));
  const size = () => (existsSync(path) ? statSync(path).size : 0);
  const readFrom = (offset: number) => readRange(path, offset);
  return {
    path,
    lend: (spawn) => withFile(path, 'a', spawn),
    size,
    readFrom,
    tailSince: (offset) => readFrom(Math.max(offset, size() - READ_BYTES_MAX)),
    lastLines: () =>
      readFrom(Math.max(0, size() - TAIL_BYTES))
        .trimEnd()
        .split('\n')
        .slice(-SHOWN_LOG_LINES),
  };
}

function readRange(path: string, offset: number): string {
  if (!existsSync(path)) return '';
  return withFile(path, 'r', (descriptor) => {
    const buffer = Buffer.alloc(READ_BYTES_MAX);
    const length = readSync(descriptor, buffer, 0, READ_BYTES_MAX, offset);
    return buffer.toString('utf8', 0, length);
  });
}

function withFile<T>(path: string, flags: 'a' | 'r', work: (descriptor: number) => T): T {
  const descriptor = openSync(path, flags);
  try {
    return work(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
