import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { issueIdentity } from '@pixmesh/certificates/authority';
import { openMeshAuthority, writeIdentity } from '@pixmesh/certificates/mesh-authority';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { eventually } from '@pixmesh/testkit/eventually';
import { testInfra } from '@pixmesh/testkit/test-infra';
import { testRedis } from '@pixmesh/testkit/test-redis';
import { connect, type TLSSocket } from 'node:tls';
import pg from 'pg';
import { expect, test } from 'vitest';
import { identityFolder } from './identities.ts';
import { readInfraMode } from './start-infra.ts';

const DAY_MS = 86_400_000;
/** Files are read again every 5 s. */
const FOLLOWED_MS_MAX = 30_000;

/** Containers have copies of the files; their servers' certificates last 400 days, and they do not. */
const doFollow = readInfraMode() === 'processes';

test('Postgres and Redis serve their renewed certificates without a restart, containers their first', async () => {
  await using database = await createTestDatabase('charges');
  const { url, ca } = testRedis('tools');
  const open = new pg.Client({ connectionString: database.url });
  await open.connect();
  const pids = async () => (await open.query('select pg_backend_pid()')).rows;
  const before = await pids();
  const first = [await serialOfPostgres(database.url), await serialOfRedis(url, ca)];
  const renewed = await Promise.all([renew('postgres'), renew('redis')]);
  await eventually(async () => {
    const served = [await serialOfPostgres(database.url), await serialOfRedis(url, ca)];
    expect(served).toEqual(doFollow ? renewed : first);
  }, FOLLOWED_MS_MAX);
  // Connections that were open go on.
  expect(await pids()).toEqual(before);
  await open.end();
}, 60_000);

/** Returns the serial number of the new certificate. */
async function renew(name: 'postgres' | 'redis'): Promise<string> {
  const { home } = testInfra();
  const authority = await openMeshAuthority(join(home, 'authority'), new Date());
  const validity = {
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + 7 * DAY_MS),
  };
  const request = { name, hosts: ['127.0.0.1', 'localhost'] };
  const issued = await issueIdentity(authority, request, validity);
  writeIdentity(identityFolder(home, name), { ca: authority.cert, ...issued });
  return new X509Certificate(issued.cert).serialNumber;
}

async function serialOfRedis(url: string, ca: string | undefined): Promise<string> {
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port), ca });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  socket.once('error', reject);
  socket.once('secureConnect', () => resolve(serialOf(socket)));
  return await promise.finally(() => socket.destroy());
}

async function serialOfPostgres(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { stream } = (client as unknown as { connection: { stream: TLSSocket } }).connection;
  const serial = serialOf(stream);
  await client.end();
  return serial;
}

function serialOf(socket: TLSSocket): string {
  return socket.getPeerX509Certificate()?.serialNumber ?? '';
}
