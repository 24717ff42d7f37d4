import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

import { Pool } from 'undici';

import { answerCalls } from '../child-calls.ts';

/** One call, made again and again; a POST under a key of its own each time. */
export type RepeatedCall = {
  method: 'GET' | 'POST';
  url: string;
  key: string;
  body: object | null;
};

/** `total` null: until it is told to stop. */
type Loop = RepeatedCall & { workers: number; total: number | null };

export type AggressorCalls = {
  /** Keeps so many calls under way. */
  loop(input: Loop): void;
  /** So many sockets, each of which sends its bodies a few bytes per second. */
  trickle(input: RepeatedCall & { sockets: number }): void;
  /** Calls that were answered, whatever the answer, and those answered with 2xx. */
  count(input: object): { answered: number; ok: number };
  /** Begins no further call; resolves when none is under way. */
  stop(input: object): Promise<void>;
};

/** A creation takes about twelve seconds: within what the gateway waits for a body. */
const TRICKLED_BYTES = 5;
const TRICKLE_MS = 500;
/** Sockets begin at different times, as those of different clients do. */
const SPREAD_MS = 12_000;
const FAILED_PAUSE_MS = 100;

const counts = { answered: 0, ok: 0 };
let stopping = new AbortController();
let under: Promise<void>[] = [];

answerCalls<AggressorCalls>({
  loop: (input) => {
    const url = new URL(input.url);
    const pool = new Pool(url.origin, { connections: input.workers, pipelining: 1 });
    let begun = 0;
    const mayBegin = () =>
      !stopping.signal.aborted && (input.total === null || begun < input.total);
    begin(input.workers, async () => {
      while (mayBegin()) {
        begun += 1;
        await callOnce(pool, url, input);
      }
    });
  },
  trickle: (input) => begin(input.sockets, () => trickleOn(input)),
  count: () => counts,
  stop: async () => {
    stopping.abort();
    await Promise.all(under);
    under = [];
    stopping = new AbortController();
  },
});

function begin(workers: number, work: () => Promise<void>): void {
  under.push(...Array.from({ length: workers }, work));
}

async function callOnce(pool: Pool, url: URL, { method, key, body }: RepeatedCall): Promise<void> {
  try {
    const response = await pool.request({
      method,
      path: url.pathname + url.search,
      headers: headersOf(key, body),
      body: body === null ? null : JSON.stringify(body),
    });
    await response.body.dump();
    counts.answered += 1;
    if (response.statusCode < 300) counts.ok += 1;
    else await delay(FAILED_PAUSE_MS);
  } catch {
    await delay(FAILED_PAUSE_MS);
  }
}

function headersOf(key: string, body: object | null): Record<string, string> {
  if (body === null) return { 'x-api-key': key };
  return {
    'x-api-key': key,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  };
}

/** One socket: a request after the other, each with its head at once and its body in small pieces. */
async function trickleOn({ url, key, body }: RepeatedCall): Promise<void> {
  const { hostname, port, pathname } = new URL(url);
  const text = JSON.stringify(body);
  await delay(Math.random() * SPREAD_MS);
  while (!stopping.signal.aborted) {
    const socket = connect(Number(port), hostname);
    await trickleOne(socket, { pathname, key, text });
    socket.destroy();
  }
}

type Trickled = { pathname: string; key: string; text: string };

async function trickleOne(socket: Socket, { pathname, key, text }: Trickled): Promise<void> {
  const answer = Promise.withResolvers<boolean>();
  socket.on('data', (chunk: Buffer) => answer.resolve(chunk.toString().startsWith('HTTP/1.1 2')));
  socket.on('error', () => answer.resolve(false));
  socket.on('close', () => answer.resolve(false));
  const headers = { ...headersOf(key, {}), host: 'gateway', 'content-length': text.length };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n`);
  for (let sent = 0; sent < text.length && !stopping.signal.aborted; sent += TRICKLED_BYTES) {
    await delay(TRICKLE_MS);
    socket.write(text.slice(sent, sent + TRICKLED_BYTES));
  }
  if (stopping.signal.aborted) return;
  const isOk = await answer.promise;
  counts.answered += 1;
  if (isOk) counts.ok += 1;
}
