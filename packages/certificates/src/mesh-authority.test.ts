import { X509Certificate } from 'node:crypto';
import { copyFileSync, mkdtempDisposableSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { openMeshAuthority, renewIdentity } from './mesh-authority.ts';
import { readIdentity } from './mesh-identity.ts';

const NOW = new Date('2026-11-23T12:00:00.500Z');
const CHARGES = { name: 'charges', hosts: ['127.0.0.1'], now: NOW };

function inHours(hours: number): Date {
  return new Date(NOW.getTime() + hours * 3_600_000);
}

describe('the authority of an installation', () => {
  it('is made once, and signs the same after it was read again', async () => {
    using home = mkdtempDisposableSync(join(tmpdir(), 'authority-'));
    const made = await openMeshAuthority(join(home.path, 'authority'), NOW);
    const read = await openMeshAuthority(join(home.path, 'authority'), NOW);
    expect(read.cert).toBe(made.cert);
    expect(read.name).toBe(made.name);
    const folder = join(home.path, 'charges');
    expect(await renewIdentity(read, folder, CHARGES)).toBe(true);
    const { ca, cert } = readIdentity(folder);
    expect(ca).toBe(made.cert);
    expect(new X509Certificate(cert).verify(new X509Certificate(made.cert).publicKey)).toBe(true);
  });

  it('is made again where its key is missing, for nothing can be signed without', async () => {
    using home = mkdtempDisposableSync(join(tmpdir(), 'authority-'));
    const made = await openMeshAuthority(home.path, NOW);
    rmSync(join(home.path, 'ca.key'));
    expect((await openMeshAuthority(home.path, NOW)).cert).not.toBe(made.cert);
  });

  it('writes keys that nobody else can read', async () => {
    using home = mkdtempDisposableSync(join(tmpdir(), 'authority-'));
    const authority = await openMeshAuthority(join(home.path, 'authority'), NOW);
    await renewIdentity(authority, join(home.path, 'charges'), CHARGES);
    for (const path of ['authority/ca.key', 'charges/tls.key']) {
      expect(statSync(join(home.path, path)).mode & 0o777).toBe(0o600);
    }
    expect(statSync(join(home.path, 'charges')).mode & 0o777).toBe(0o700);
  });
});

describe('a certificate of a process', () => {
  it('says its name on either side of a connection, and holds for a week', async () => {
    using home = mkdtempDisposableSync(join(tmpdir(), 'identity-'));
    const authority = await openMeshAuthority(join(home.path, 'authority'), NOW);
    await renewIdentity(authority, home.path, CHARGES);
    const certificate = new X509Certificate(readIdentity(home.path).cert);
    expect(certificate.subject).toBe('CN=charges');
    expect(certificate.checkHost('charges')).toBe('charges');
    expect(certificate.checkHost('ledger')).toBeUndefined();
    expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(certificate.keyUsage).toHaveLength(2);
    expect(certificate.validToDate).toEqual(new Date('2026-11-30T12:00:00.000Z'));
  });

  it('is renewed in the second half of its life, not before', async () => {
    using home = mkdtempDisposableSync(join(tmpdir(), 'identity-'));
    const authority = await openMeshAuthority(join(home.path, 'authority'), NOW);
    const renew = (now: Date) => renewIdentity(authority, home.path, { ...CHARGES, now });
    await renew(NOW);
    expect(await renew(inHours(83))).toBe(false);
    const before = readFileSync(join(home.path, 'tls.crt'), 'utf8');
    expect(await renew(inHours(85))).toBe(true);
    expect(readFileSync(join(home.path, 'tls.crt'), 'utf8')).not.toBe(before);
  });

  it('is renewed where its key is that of another, as a process that was killed leaves them', async () => {
    using home = mkdtempDisposableSync(join(tmpdir(), 'identity-'));
    const authority = await openMeshAuthority(join(home.path, 'authority'), NOW);
    const [folder, other] = [join(home.path, 'one'), join(home.path, 'other')];
    for (const path of [folder, other]) await renewIdentity(authority, path, CHARGES);
    copyFileSync(join(other, 'tls.key'), join(folder, 'tls.key'));
    expect(await renewIdentity(authority, folder, CHARGES)).toBe(true);
    expect(await renewIdentity(authority, folder, CHARGES)).toBe(false);
  });

  it('is renewed where another authority signed it', async () => {
    using home = mkdtempDisposableSync(join(tmpdir(), 'identity-'));
    const one = await openMeshAuthority(join(home.path, 'one'), NOW);
    const other = await openMeshAuthority(join(home.path, 'other'), NOW);
    await renewIdentity(one, home.path, CHARGES);
    expect(await renewIdentity(other, home.path, CHARGES)).toBe(true);
    expect(readIdentity(home.path).ca).toBe(other.cert);
  });
});
