import { once } from 'node:events';
import { createServer } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type Authority, issueIdentity, makeAuthority } from '@pixmesh/certificates/authority';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

const SSL_REQUEST_BYTES = 8;
/** `invalid_authorization_specification`: no rule lets this user in this way. */
const REFUSED = '28000';
const DAY_MS = 86_400_000;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('charges');
});
afterAll(() => database[Symbol.asyncDispose]());

test('a service role comes by TLS', async () => {
  const sql =
    'select ssl, usename from pg_stat_ssl join pg_stat_activity using (pid) where pid = pg_backend_pid()';
  expect(await ask(database.url, sql)).toEqual([{ ssl: true, usename: 'pixmesh_charges' }]);
});

test('a service role that comes without TLS is refused, whatever its password', async () => {
  await expect(ask(withoutTls(database.url))).rejects.toMatchObject({ code: REFUSED });
});

test('the superuser of stack.json may come without TLS from this machine', async () => {
  expect(new URL(database.adminUrl).search).toBe('');
  await expect(ask(database.adminUrl)).resolves.toHaveLength(1);
});

test('a Postgres whose certificate is of another authority is refused', async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'authority-'));
  const ca = await authorityIn(folder.path);
  await expect(ask(withAuthority(database.url, ca.path))).rejects.toMatchObject({
    code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  });
});

test.each([
  { hosts: ['127.0.0.1'], meets: 'a server' },
  { hosts: ['localhost', '127.0.0.2'], meets: 'ERR_TLS_CERT_ALTNAME_INVALID' },
])('by address, a certificate for $hosts leads to $meets', async ({ hosts, meets }) => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'authority-'));
  const { authority, path } = await authorityIn(folder.path);
  await using server = await startTlsServer(authority, hosts);
  const url = withAuthority(`postgres://a:b@127.0.0.1:${server.port}/pixmesh`, path);
  const error = await ask(url).catch((failure: unknown) => failure);
  expect((error as { code?: string }).code ?? 'a server').toBe(meets);
});

async function ask(url: string, sql = 'select 1'): Promise<object[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<object>(sql)).rows;
  } finally {
    await client.end();
  }
}

function withoutTls(url: string): string {
  const plain = new URL(url);
  plain.search = '';
  return plain.href;
}

function withAuthority(url: string, path: string): string {
  const changed = new URL(url);
  changed.searchParams.set('sslmode', 'verify-full');
  changed.searchParams.set('sslrootcert', path);
  return changed.href;
}

async function authorityIn(folder: string): Promise<{ authority: Authority; path: string }> {
  const authority = await makeAuthority('another', someDays());
  const path = join(folder, 'ca.crt');
  writeFileSync(path, authority.cert);
  return { authority, path };
}

function someDays() {
  return { notBefore: new Date(Date.now() - DAY_MS), notAfter: new Date(Date.now() + DAY_MS) };
}

/** Agrees to TLS as Postgres does, and says nothing after the handshake. */
async function startTlsServer(authority: Authority, hosts: readonly string[]) {
  const { cert, key } = await issueIdentity(authority, { name: 'another', hosts }, someDays());
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('readable', () => {
      socket.read(SSL_REQUEST_BYTES);
      socket.write('S');
      const secured = new TLSSocket(socket, { isServer: true, cert, key });
      secured.on('error', () => undefined);
      secured.on('secure', () => secured.once('data', () => secured.end()));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as { port: number }).port,
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}
