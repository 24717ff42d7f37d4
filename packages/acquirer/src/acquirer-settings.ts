import { createPrivateKey, X509Certificate } from 'node:crypto';

import { isCertificate, isPrivateKey } from '@pixmesh/kernel/pem';
import { z } from 'zod';

import type { AcquirerConfig } from './client.ts';

/** Environment of every process that calls the acquirer; where `X` is a secret, `X_FILE` may name its file. */
export const AcquirerSettings = {
  ACQUIRER_URL: z.url({ protocol: /^https?$/, error: 'expected an http(s) URL' }),
  ACQUIRER_CLIENT_ID: z.string({ error: 'expected the client id' }).min(1),
  ACQUIRER_CLIENT_SECRET: z.string({ error: 'expected the client secret' }).min(1),
  ACQUIRER_PIX_KEY: z.string({ error: 'expected the Pix key of the acquirer account' }).min(1),
  /** PEM texts: who signed the acquirer's certificate, our own certificate and its key. All three or none. */
  ACQUIRER_TLS_CA: pem('certificates', isCertificate),
  ACQUIRER_TLS_CERT: pem('a certificate', isCertificate),
  ACQUIRER_TLS_KEY: pem('an unencrypted private key', isPrivateKey),
} as const;

type Settings = z.output<z.ZodObject<typeof AcquirerSettings>>;

/** What no variable shows alone; for `superRefine` of a schema that holds them. */
export function checkAcquirerSettings(settings: Settings, context: z.RefinementCtx): void {
  const { ACQUIRER_TLS_CA: ca, ACQUIRER_TLS_CERT: cert, ACQUIRER_TLS_KEY: key } = settings;
  const parts = { ACQUIRER_TLS_CA: ca, ACQUIRER_TLS_CERT: cert, ACQUIRER_TLS_KEY: key };
  const missing = Object.entries(parts).filter(([, value]) => value === undefined);
  if (missing.length === Object.keys(parts).length) return;
  const issue = (path: string, message: string): void =>
    context.addIssue({ code: 'custom', path: [path], message });
  for (const [name] of missing) {
    issue(name, 'expected with the other two of ACQUIRER_TLS_CA, …_CERT and …_KEY');
  }
  if (URL.parse(settings.ACQUIRER_URL)?.protocol !== 'https:') {
    issue('ACQUIRER_URL', 'expected https where ACQUIRER_TLS_CERT is set');
  }
  if (isCertificate(cert) && isPrivateKey(key) && !belongTogether(cert, key)) {
    issue('ACQUIRER_TLS_KEY', 'expected the key of ACQUIRER_TLS_CERT');
  }
}

/** The client's own words for them. */
export function acquirerConfig(
  settings: Settings & { ACQUIRER_TIMEOUT_MS: number },
): AcquirerConfig {
  const { ACQUIRER_TLS_CA: ca, ACQUIRER_TLS_CERT: cert, ACQUIRER_TLS_KEY: key } = settings;
  return {
    url: settings.ACQUIRER_URL,
    clientId: settings.ACQUIRER_CLIENT_ID,
    clientSecret: settings.ACQUIRER_CLIENT_SECRET,
    pixKey: settings.ACQUIRER_PIX_KEY,
    timeoutMs: settings.ACQUIRER_TIMEOUT_MS,
    ...(ca && cert && key && { tls: { ca, cert, key } }),
  };
}

function pem(what: string, isReadable: (text: string) => boolean) {
  return z
    .string()
    .refine(isReadable, { error: `expected ${what} as PEM text` })
    .optional();
}

function belongTogether(cert: string, key: string): boolean {
  return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
}
