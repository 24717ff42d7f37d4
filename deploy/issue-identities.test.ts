import { X509Certificate } from 'node:crypto';
import { existsSync, mkdtempDisposableSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { readIdentity } from '@pixmesh/certificates/mesh-identity';
import { ServiceName } from '@pixmesh/contracts/internal/identities';
import { expect, test } from 'vitest';

import { issueIdentities } from './issue-identities.ts';

const NOW = new Date('2026-11-23T12:00:00Z');
const IN_FOUR_DAYS = new Date('2026-11-27T12:00:00Z');
const OURS = [...ServiceName.options, 'deploy'];
const SERVERS = 'kafka=kafka-1.internal,kafka=10.0.0.7,postgres=db.internal';

function aHome() {
  const home = mkdtempDisposableSync(path.join(tmpdir(), 'pixmesh-identities-'));
  const env = {
    MESH_AUTHORITY_DIR: path.join(home.path, 'authority'),
    MESH_IDENTITIES_DIR: path.join(home.path, 'identities'),
  };
  const certificateOf = (name: string) =>
    new X509Certificate(readIdentity(path.join(env.MESH_IDENTITIES_DIR, name)).cert);
  return { env, certificateOf, [Symbol.dispose]: () => home[Symbol.dispose]() };
}

test('each process of the mesh but tools gets an identity of one authority, with its name alone', async () => {
  using home = aHome();
  expect(await issueIdentities(home.env, NOW)).toEqual(OURS);
  expect(readdirSync(home.env.MESH_IDENTITIES_DIR).toSorted()).toEqual(OURS.toSorted());
  const ca = new X509Certificate(
    readFileSync(path.join(home.env.MESH_AUTHORITY_DIR, 'ca.crt'), 'utf8'),
  );
  for (const name of OURS) {
    const certificate = home.certificateOf(name);
    expect([certificate.subject, certificate.subjectAltName]).toEqual([
      `CN=${name}`,
      `DNS:${name}`,
    ]);
    expect(certificate.verify(ca.publicKey)).toBe(true);
  }
});

test('a server is issued for all addresses it is dialled by, and again when one is added', async () => {
  using home = aHome();
  await issueIdentities({ ...home.env, MESH_SERVER_HOSTS: SERVERS }, NOW);
  expect(home.certificateOf('kafka').subjectAltName).toBe(
    'DNS:kafka, DNS:kafka-1.internal, IP Address:10.0.0.7',
  );
  const more = { ...home.env, MESH_SERVER_HOSTS: `${SERVERS},kafka=kafka-2.internal` };
  expect(await issueIdentities(more, NOW)).toEqual(['kafka']);
  expect(home.certificateOf('kafka').checkHost('kafka-2.internal')).toBe('kafka-2.internal');
});

test('repeated it writes nothing, until half of the life of a certificate is over', async () => {
  using home = aHome();
  await issueIdentities(home.env, NOW);
  expect(await issueIdentities(home.env, NOW)).toEqual([]);
  expect(await issueIdentities(home.env, IN_FOUR_DAYS)).toEqual(OURS);
});

test('while an authority takes the place of another, both are believed, and then the new one alone', async () => {
  using home = aHome();
  using next = aHome();
  await issueIdentities(home.env, NOW);
  await issueIdentities(next.env, NOW);
  const [former, newer] = [home, next].map(({ env }) =>
    readFileSync(path.join(env.MESH_AUTHORITY_DIR, 'ca.crt'), 'utf8'),
  ) as [string, string];
  const believed = () =>
    readIdentity(path.join(home.env.MESH_IDENTITIES_DIR, 'ledger')).ca.match(/-BEGIN/g);
  expect(await issueIdentities({ ...home.env, MESH_TRUSTED_CA: newer }, NOW)).toEqual(OURS);
  expect(believed()).toHaveLength(2);
  const { MESH_AUTHORITY_DIR } = next.env;
  const moved = { ...home.env, MESH_AUTHORITY_DIR };
  await issueIdentities({ ...moved, MESH_TRUSTED_CA: former }, NOW);
  expect(believed()).toHaveLength(2);
  expect(home.certificateOf('ledger').verify(new X509Certificate(newer).publicKey)).toBe(true);
  await issueIdentities(moved, NOW);
  expect(believed()).toHaveLength(1);
});

test('an authority that has gone is not replaced at once, for no process would believe the new one', async () => {
  using home = aHome();
  await issueIdentities(home.env, NOW);
  rmSync(path.join(home.env.MESH_AUTHORITY_DIR, 'ca.key'));
  await expect(issueIdentities(home.env, IN_FOUR_DAYS)).rejects.toThrow(
    'MESH_AUTHORITY_DIR: expected ca.key, since identities were issued',
  );
});

test.each(['kafka', 'kafka=', '=host', 'Kafka=host', 'kafka=a=b', 'charges=host', 'tools=host'])(
  'MESH_SERVER_HOSTS=%s is refused, and nothing is made',
  async (hosts) => {
    using home = aHome();
    await expect(issueIdentities({ ...home.env, MESH_SERVER_HOSTS: hosts }, NOW)).rejects.toThrow(
      /^MESH_SERVER_HOSTS: expected name=host/,
    );
    expect(existsSync(home.env.MESH_AUTHORITY_DIR)).toBe(false);
  },
);
