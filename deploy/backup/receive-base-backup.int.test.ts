import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';

import pg from 'pg';
import { expect, test } from 'vitest';

import { receiveBaseBackup } from './receive-base-backup.ts';
import { ask, startBackedUpServer } from './testing/backed-up-server.ts';

const MS_PER_WRITE = 10;
const SLOW_BYTES = 2_000_000;

test('a copy whose end is written slower than it comes is whole, and its connection ends', async () => {
  await using server = await startBackedUpServer();
  const [size] = await ask<{ bytes: string }>(
    server.url,
    'select sum(pg_database_size(oid)) as bytes from pg_database',
  );
  const settings = { connectionString: server.url, replication: 'true' };
  const client = new pg.Client(settings);
  await client.connect();
  const archive = slowAfter(Number(size?.bytes) - SLOW_BYTES);
  const manifest = slowAfter(0);
  const { start, stop } = await receiveBaseBackup(client, { archive, manifest });
  await Promise.all([finished(archive), finished(manifest)]);
  await client.end();
  expect([start.timeline, stop.timeline]).toEqual([1, 1]);
  expect(archive.bytes()).toBeGreaterThan(Number(size?.bytes));
  expect(manifest.text()).toMatch(/"Manifest-Checksum": "[0-9a-f]{64}"\}\n$/);
}, 60_000);

/** Takes one chunk at a time, and after some bytes a while for each. */
function slowAfter(bytesMax: number) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const stream = new Writable({
    highWaterMark: 1,
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > bytesMax) setTimeout(done, MS_PER_WRITE);
      else done();
    },
  });
  return Object.assign(stream, {
    bytes: () => bytes,
    text: () => Buffer.concat(chunks).toString('utf8'),
  });
}
