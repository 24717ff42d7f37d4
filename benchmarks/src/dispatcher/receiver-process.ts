import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { verifyWebhookSignature } from '@pixmesh/kernel/webhook-signature';

import { answerCalls } from '../child-calls.ts';
import { readMark, sharedNowMs } from './event-mark.ts';
import { createPhaseRecord, type PhaseFigure, type SentEvents } from './phase-record.ts';
import { RECEIVER_PATHS } from './receiver-paths.ts';

const SLOW_MS = 200;
/** As reverse proxies have it: longer than a sender keeps its sockets. */
const KEEP_ALIVE_MS = 75_000;
/** One in so many signatures is checked, so that it stays a small part of the receiver's work. */
const VERIFIED_EVERY = 64;

export type ReceiverCalls = {
  listen(input: { secret: string }): Promise<{ port: number }>;
  /** Events that have arrived, each counted once. */
  count(input: { phase: string }): number;
  /** Once everything has had its time. */
  close(input: { phase: string } & SentEvents): PhaseFigure & { missing: number };
  traffic(input: object): { connections: number; requests: number };
};

const traffic = { connections: 0, requests: 0 };
const phases = new Map<string, ReturnType<typeof createPhaseRecord>>();
let secret = '';

const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 }, receive);
server.on('connection', () => {
  traffic.connections += 1;
});

answerCalls<ReceiverCalls>({
  listen: async (input) => {
    ({ secret } = input);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { port: (server.address() as AddressInfo).port };
  },
  count: ({ phase }) => phaseOf(phase).countArrived(),
  close: ({ phase, ...sent }) => {
    const record = phaseOf(phase);
    const missing = record.countMissing(sent, sharedNowMs());
    return { ...record.figure(), missing };
  },
  traffic: () => traffic,
});

function receive(request: IncomingMessage, response: ServerResponse): void {
  const nowMs = sharedNowMs();
  traffic.requests += 1;
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    record(request, Buffer.concat(chunks), nowMs);
    if (request.url === RECEIVER_PATHS.hangs) return;
    if (request.url === RECEIVER_PATHS.slow) setTimeout(() => accept(response), SLOW_MS);
    else accept(response);
  });
}

function accept(response: ServerResponse): void {
  response.writeHead(200, { 'content-length': 2 }).end('ok');
}

function record(request: IncomingMessage, body: Buffer, nowMs: number): void {
  const mark = readMark(body.toString('latin1'));
  if (mark === null) return;
  const phase = phaseOf(mark.phase);
  phase.counts.bodyBytes += body.byteLength;
  if (request.url === RECEIVER_PATHS.hangs) phase.counts.hung += 1;
  else phase.arrived(mark, nowMs);
  if (mark.number % VERIFIED_EVERY !== 0) return;
  const signature = request.headers['x-webhook-signature'];
  const isGenuine =
    typeof signature === 'string' && verifyWebhookSignature(secret, body, signature);
  if (!isGenuine) phase.counts.forged += 1;
}

function phaseOf(name: string): ReturnType<typeof createPhaseRecord> {
  const phase = phases.get(name) ?? createPhaseRecord();
  phases.set(name, phase);
  return phase;
}
