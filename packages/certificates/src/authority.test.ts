import { createPrivateKey, X509Certificate } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { issueClientCertificate, issueServerCertificate, makeAuthority } from './authority.ts';

const VALIDITY = {
  notBefore: new Date('2026-11-01T00:00:00.000Z'),
  notAfter: new Date('2027-11-01T00:00:00.000Z'),
};
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

describe('an authority', () => {
  it('signs what others can check by its certificate, with the key that belongs to it', async () => {
    const authority = await makeAuthority('test', VALIDITY);
    const ca = new X509Certificate(authority.cert);
    expect(ca.ca).toBe(true);
    const issued = [
      await issueServerCertificate(authority, ['localhost'], VALIDITY),
      await issueClientCertificate(authority, 'client', VALIDITY),
    ];
    for (const { cert, key } of issued) {
      const certificate = new X509Certificate(cert);
      expect(certificate.ca).toBe(false);
      expect(certificate.checkIssued(ca)).toBe(true);
      expect(certificate.verify(ca.publicKey)).toBe(true);
      expect(certificate.checkPrivateKey(createPrivateKey(key))).toBe(true);
      expect(certificate.validFromDate).toEqual(VALIDITY.notBefore);
      expect(certificate.validToDate).toEqual(VALIDITY.notAfter);
    }
  });

  it('is not taken for another of the same name', async () => {
    const [one, other] = [
      await makeAuthority('test', VALIDITY),
      await makeAuthority('test', VALIDITY),
    ];
    const { cert } = await issueClientCertificate(one, 'client', VALIDITY);
    const { publicKey } = new X509Certificate(other.cert);
    expect(new X509Certificate(cert).verify(publicKey)).toBe(false);
  });

  it('gives a server its names and addresses, and either side its own purpose', async () => {
    const authority = await makeAuthority('test', VALIDITY);
    const hosts = ['localhost', '127.0.0.1'];
    const server = new X509Certificate(
      (await issueServerCertificate(authority, hosts, VALIDITY)).cert,
    );
    expect(server.checkHost('localhost')).toBe('localhost');
    expect(server.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(server.checkHost('example.com')).toBeUndefined();
    // Node calls the extended key usage so.
    expect(server.keyUsage).toEqual([SERVER_AUTH]);
    const client = new X509Certificate(
      (await issueClientCertificate(authority, 'client', VALIDITY)).cert,
    );
    expect(client.keyUsage).toEqual([CLIENT_AUTH]);
    expect(client.subject).toBe('CN=client');
  });

  it('never gives a serial number twice', async () => {
    const authority = await makeAuthority('test', VALIDITY);
    const issued = await Promise.all(
      Array.from({ length: 20 }, () => issueClientCertificate(authority, 'client', VALIDITY)),
    );
    const serials = issued.map(({ cert }) => new X509Certificate(cert).serialNumber);
    expect(new Set(serials).size).toBe(20);
  });
});
