// The X.509 library finds its parts by metadata and refuses to load without this.
// oxlint-disable-next-line import/no-unassigned-import
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { X509CertificateGenerator } from '@peculiar/x509';
import { describe, expect, it } from 'vitest';

import { issueIdentity, makeAuthority } from './authority.ts';
import { writeIdentity } from './mesh-authority.ts';
import { commonNameOf, type IdentityTexts, openMeshIdentity } from './mesh-identity.ts';

const VALIDITY = { notBefore: new Date('2026-11-01'), notAfter: new Date('2027-11-01') };
const RELOAD_MS = 5;
const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

async function someIdentity(name: string): Promise<IdentityTexts> {
  const authority = await makeAuthority('test', VALIDITY);
  const { cert, key } = await issueIdentity(authority, { name, hosts: [] }, VALIDITY);
  return { ca: authority.cert, cert, key };
}

function openWithLog(folder: string) {
  const log: string[] = [];
  const logger = {
    info: (_fields: object, message: string) => void log.push(message),
    error: (_fields: object, message: string) => void log.push(message),
  };
  return { log, identity: openMeshIdentity({ folder, logger, reloadMs: RELOAD_MS }) };
}

describe('the identity of a process', () => {
  it('is that of the files, also after they were replaced', async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'identity-'));
    const [first, second] = [await someIdentity('charges'), await someIdentity('charges')];
    writeIdentity(folder.path, first);
    const opened = openWithLog(folder.path);
    await using identity = opened.identity;
    expect(identity.name).toBe('charges');
    expect(identity.current()).toEqual(first);
    const changes: IdentityTexts[] = [];
    identity.onChange((texts) => changes.push(texts));
    writeIdentity(folder.path, second);
    await expect.poll(() => changes.length).toBeGreaterThan(0);
    expect(changes).toEqual([second]);
    expect(identity.current()).toEqual(second);
    expect(opened.log).toContain('certificate of the mesh reloaded');
  });

  it('stays in force while its files cannot be used, which the log says once', async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'identity-'));
    const first = await someIdentity('charges');
    writeIdentity(folder.path, first);
    const opened = openWithLog(folder.path);
    await using identity = opened.identity;
    writeFileSync(join(folder.path, 'tls.crt'), 'cut off');
    await expect.poll(() => opened.log.length).toBeGreaterThan(0);
    expect(opened.log).toEqual(['certificate of the mesh not reloaded']);
    expect(identity.current()).toEqual(first);
  });

  it.each([
    ['no file', () => undefined, 'tls.crt'],
    ['no PEM text', (path: string) => writeFileSync(join(path, 'tls.key'), 'x'), 'tls.key'],
  ])('refuses to open with %s', async (_what, spoil, named) => {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'identity-'));
    const { ca, cert, key } = await someIdentity('charges');
    if (named === 'tls.key') writeIdentity(folder.path, { ca, cert, key });
    else writeFileSync(join(folder.path, 'ca.crt'), ca);
    spoil(folder.path);
    expect(() => openWithLog(folder.path)).toThrow(named);
  });

  it('refuses the key of another certificate', async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'identity-'));
    const { key } = await someIdentity('charges');
    writeIdentity(folder.path, { ...(await someIdentity('charges')), key });
    expect(() => openWithLog(folder.path)).toThrow('is not the key of');
  });

  it('refuses a chain whose second certificate is damaged', async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'identity-'));
    const identity = await someIdentity('charges');
    const damaged = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    writeIdentity(folder.path, { ...identity, cert: `${identity.cert}\n${damaged}` });
    expect(() => openWithLog(folder.path)).toThrow('TLS refuses the identity');
  });

  it('refuses a certificate that names no process', async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'identity-'));
    writeIdentity(folder.path, await someIdentity('charges.example.com'));
    expect(() => openWithLog(folder.path)).toThrow('has another subject than CN=<name> alone');
  });
});

describe('the name of a certificate', () => {
  it.each([
    ['CN=charges', 'charges'],
    ['CN=webhook-dispatcher', 'webhook-dispatcher'],
    ['O=Acme, CN=charges', ''],
    ['CN=charges, O=Acme', ''],
    ['CN=charges, CN=ledger', ''],
    ['CN=Charges', ''],
    ['CN="charges, CN=ledger"', ''],
    ['O=Acme', ''],
  ])('of the subject %s is %s', async (subject, name) => {
    expect(commonNameOf(await certificateOf(subject))).toBe(name);
  });
});

/** As another PKI may issue it; the text is the library's, in the order of the certificate. */
async function certificateOf(subject: string): Promise<string> {
  const keys = await webcrypto.subtle.generateKey(ECDSA, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: subject,
    keys,
    signingAlgorithm: ECDSA,
    ...VALIDITY,
  });
  return certificate.toString('pem');
}
