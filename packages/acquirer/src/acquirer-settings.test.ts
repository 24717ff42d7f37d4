import {
  type InstallationCertificates,
  makeInstallationCertificates,
} from '@pixmesh/certificates/installation-certificates';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

import { acquirerConfig, AcquirerSettings, checkAcquirerSettings } from './acquirer-settings.ts';

const Schema = z
  .object({ ...AcquirerSettings, ACQUIRER_TIMEOUT_MS: z.number() })
  .superRefine(checkAcquirerSettings);

const PLAIN = {
  ACQUIRER_URL: 'https://acquirer.example.com',
  ACQUIRER_CLIENT_ID: 'client',
  ACQUIRER_CLIENT_SECRET: 'secret',
  ACQUIRER_PIX_KEY: 'key',
  ACQUIRER_TIMEOUT_MS: 4_000,
};

let certificates: InstallationCertificates;
let other: InstallationCertificates;
beforeAll(async () => {
  const input = { serverHosts: ['localhost'], clientName: 'client', now: new Date() };
  certificates = await makeInstallationCertificates(input);
  other = await makeInstallationCertificates(input);
});

function whole(): Record<string, string | number> {
  return {
    ...PLAIN,
    ACQUIRER_TLS_CA: certificates.ca,
    ACQUIRER_TLS_CERT: certificates.client.cert,
    ACQUIRER_TLS_KEY: certificates.client.key,
  };
}

function wrongNames(settings: object): PropertyKey[] {
  const { error } = Schema.safeParse(settings);
  return error?.issues.flatMap(({ path }) => path) ?? [];
}

describe('settings of the acquirer', () => {
  it('name a certificate, its key and an authority together', () => {
    expect(acquirerConfig(Schema.parse(whole())).tls).toEqual({
      ca: certificates.ca,
      ...certificates.client,
    });
  });

  it('allow https without a client certificate', () => {
    expect(acquirerConfig(Schema.parse(PLAIN))).toEqual({
      url: 'https://acquirer.example.com',
      clientId: 'client',
      clientSecret: 'secret',
      pixKey: 'key',
      timeoutMs: 4_000,
    });
  });

  it.each(['ACQUIRER_TLS_CA', 'ACQUIRER_TLS_CERT', 'ACQUIRER_TLS_KEY'])(
    'miss %s where the other two are given',
    (name) => {
      const { [name]: _, ...rest } = whole();
      expect(wrongNames(rest)).toEqual([name]);
      expect(wrongNames({ ...whole(), [name]: 'no PEM' })).toEqual([name]);
    },
  );

  it('say which URL is none', () => {
    expect(wrongNames({ ...PLAIN, ACQUIRER_URL: 'acquirer' })).toEqual(['ACQUIRER_URL']);
    expect(wrongNames({ ...whole(), ACQUIRER_URL: 'acquirer' })).toContain('ACQUIRER_URL');
  });

  it('never let a certificate go with a URL in clear', () => {
    expect(wrongNames({ ...whole(), ACQUIRER_URL: 'http://acquirer.example.com' })).toEqual([
      'ACQUIRER_URL',
    ]);
  });

  it('refuse the key of another certificate', () => {
    expect(wrongNames({ ...whole(), ACQUIRER_TLS_KEY: other.client.key })).toEqual([
      'ACQUIRER_TLS_KEY',
    ]);
  });

  it('never quote a key', () => {
    const { error } = Schema.safeParse({ ...whole(), ACQUIRER_TLS_KEY: other.client.key });
    expect(error?.message).not.toContain('PRIVATE KEY');
  });
});
