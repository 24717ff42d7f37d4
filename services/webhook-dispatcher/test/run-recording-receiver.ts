import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { RecordedPost } from './verify-deliveries.ts';

/** A receiver takes its time, so that a sender that dies has requests out. */
const ANSWER_MS_MIN = 100;
const ANSWER_MS_MAX = 1_000;

const [senders = '1', failing = '0'] = process.argv.slice(2);
const posts: { -readonly [K in keyof RecordedPost]: RecordedPost[K] }[] = [];
const seen = new Set<string>();
let open = 0;

const servers = Array.from({ length: Number(senders) }, (_, sender) =>
  createServer((request, response) => take(sender, request, response)),
);
for (const server of servers) {
  server.keepAliveTimeout = 72_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}
process.on('message', (what) => process.send?.(what === 'open' ? open : posts));
process.on('disconnect', () => process.exit());
process.send?.(servers.map((server) => (server.address() as AddressInfo).port));

/** Writes down that a request has begun before anything else happens to it. */
function take(sender: number, request: IncomingMessage, response: ServerResponse): void {
  const deliveryId = String(request.headers['x-webhook-delivery']);
  const post: (typeof posts)[number] = {
    deliveryId,
    sender,
    begunMs: Date.now(),
    answeredMs: null,
  };
  posts.push(post);
  open += 1;
  response.once('close', () => (open -= 1));
  const isFirst = !seen.has(deliveryId);
  seen.add(deliveryId);
  const draw = hash('sha256', deliveryId, 'buffer').readUInt32BE(0) / 2 ** 32;
  request.resume();
  request.on('error', () => undefined);
  setTimeout(
    () => {
      if (response.destroyed) return;
      post.answeredMs = Date.now();
      response.writeHead(isFirst && draw < Number(failing) ? 503 : 200).end();
    },
    ANSWER_MS_MIN + ((draw * 1_000) % 1) * (ANSWER_MS_MAX - ANSWER_MS_MIN),
  );
}
