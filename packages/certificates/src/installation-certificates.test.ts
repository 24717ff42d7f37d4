import { describe, expect, it } from 'vitest';

import { makeInstallationCertificates, mustRenew } from './installation-certificates.ts';

const NOW = new Date('2026-11-21T12:00:00.500Z');
const DAY_MS = 86_400_000;

async function someCertificates() {
  return await makeInstallationCertificates({
    serverHosts: ['127.0.0.1'],
    clientName: 'client',
    now: NOW,
  });
}

function inDays(days: number): Date {
  return new Date(NOW.getTime() + days * DAY_MS);
}

describe('certificates of an installation', () => {
  it('are renewed when a month is left, not before', async () => {
    const certificates = await someCertificates();
    expect(mustRenew(certificates, NOW)).toBe(false);
    expect(mustRenew(certificates, inDays(794))).toBe(false);
    expect(mustRenew(certificates, inDays(796))).toBe(true);
    expect(mustRenew(certificates, inDays(10_000))).toBe(true);
  });

  it.each(['', 'no certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'])(
    'are made anew where one of them reads %j',
    async (cert) => {
      const certificates = await someCertificates();
      expect(mustRenew({ ...certificates, ca: cert }, NOW)).toBe(true);
      const server = { ...certificates.server, cert };
      expect(mustRenew({ ...certificates, server }, NOW)).toBe(true);
    },
  );
});
