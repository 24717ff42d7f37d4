/** A small service that calls itself: one request that asks Postgres and Redis, all inside one span. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { context, propagation } from '@opentelemetry/api';
import pg from 'pg';
import { createClient } from 'redis';
import { request } from 'undici';

import { stopTelemetry } from '../running-telemetry.ts';
import { currentTraceParent, withSpan } from '../tracing.ts';

const [postgresUrl = '', redisUrl = ''] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: postgresUrl });
const redis = createClient({ url: redisUrl });
await redis.connect();

/** What an outgoing call would carry in this header. */
function handedOn(header: string): string {
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  return carrier[header] ?? '';
}

const server = createServer((_request, response) => {
  void (async () => {
    await pool.query('/* answer */ select $1::text', ['canary']);
    await redis.get('key');
    response.end(`${currentTraceParent() ?? ''}${handedOn('baggage')}${handedOn('tracestate')}`);
  })();
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

await withSpan('root', { parent: null }, async () => {
  const headers = { baggage: 'from=a-stranger', tracestate: 'from=a-stranger' };
  const answer = await request(`${url}/callback/canary?query=canary`, { headers });
  process.stdout.write(await answer.body.text());
});
await fetch(`${url}/livez`);

server.closeAllConnections();
server.close();
await Promise.all([pool.end(), redis.close()]);
await stopTelemetry();
