import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { answerCalls } from './child-calls.ts';

/** Answers to this path take eight seconds; to all others none. */
export const SLOW_PATH = '/slow';
/** Of requests to this path nothing is noted. */
export const UNNOTED_PATH = '/unnoted';
const SLOW_MS = 8_000;

export type WebhookReceiverCalls = {
  listen(input: object): Promise<{ port: number }>;
  /** Requests to the slow path. */
  countSlow(input: object): number;
  /** Since the last call: when each event of a resource arrived first, in milliseconds of `Date.now()`. */
  takeArrivals(input: object): { event: string; id: string; atMs: number }[];
};

type Arrival = { event: string; id: string; atMs: number };

let slow = 0;
let arrivals = new Map<string, Arrival>();

const server = createServer({ keepAliveTimeout: 75_000, requestTimeout: 0 }, receive);

answerCalls<WebhookReceiverCalls>({
  listen: async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { port: (server.address() as AddressInfo).port };
  },
  countSlow: () => slow,
  takeArrivals: () => {
    const taken = [...arrivals.values()];
    arrivals = new Map();
    return taken;
  },
});

function receive(request: IncomingMessage, response: ServerResponse): void {
  const atMs = performance.timeOrigin + performance.now();
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (request.url === SLOW_PATH) {
      slow += 1;
      setTimeout(() => response.end('ok'), SLOW_MS);
      return;
    }
    if (request.url === UNNOTED_PATH) {
      response.end('ok');
      return;
    }
    const { event, data } = JSON.parse(Buffer.concat(chunks).toString()) as {
      event: string;
      data: { id: string };
    };
    const name = `${event} ${data.id}`;
    if (!arrivals.has(name)) arrivals.set(name, { event, id: data.id, atMs });
    response.end('ok');
  });
}
