/** A small service that calls itself: one request that asks Postgres and Redis, all inside one span. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import pg from 'pg';
import { createClient } from 'redis';
import { request } from 'undici';

import { stopTelemetry } from '../sdk.ts';
import { currentTraceParent, withSpan } from '../tracing.ts';

const [postgresUrl = '', redisUrl = ''] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: postgresUrl });
const redis = createClient({ url: redisUrl });
await redis.connect();

const server = createServer((_request, response) => {
  void (async () => {
    await pool.query('/* answer */ select $1::text', ['canary']);
    await redis.get('key');
    response.end(currentTraceParent());
  })();
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

await withSpan('root', { parent: null }, async () => {
  const answer = await request(`${url}/callback/canary?query=canary`);
  process.stdout.write(await answer.body.text());
});
await fetch(`${url}/livez`);

server.closeAllConnections();
server.close();
await Promise.all([pool.end(), redis.close()]);
await stopTelemetry();
