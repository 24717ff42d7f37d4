import { checkTlsIdentity, TLS_FIELDS, toTlsIdentity } from '@pixmesh/service/tls-identity';
import { z } from 'zod';

import type { AcquirerConfig } from './client.ts';

/** Environment of every process that calls the acquirer; where `X` is a secret, `X_FILE` may name its file. */
export const AcquirerSettings = {
  ACQUIRER_URL: z.url({ protocol: /^https?$/, error: 'expected an http(s) URL' }),
  ACQUIRER_CLIENT_ID: z.string({ error: 'expected the client id' }).min(1),
  ACQUIRER_CLIENT_SECRET: z.string({ error: 'expected the client secret' }).min(1),
  ACQUIRER_PIX_KEY: z.string({ error: 'expected the Pix key of the acquirer account' }).min(1),
  /** Who signed the acquirer's certificate, our own certificate and its key. */
  ACQUIRER_TLS_CA: TLS_FIELDS.ca,
  ACQUIRER_TLS_CERT: TLS_FIELDS.cert,
  ACQUIRER_TLS_KEY: TLS_FIELDS.key,
  /** Whether the acquirer asks for that certificate; production has one unless it is said that it does not. */
  ACQUIRER_CLIENT_CERTIFICATE: z
    .enum(['required', 'none'], { error: 'expected required or none' })
    .default('required'),
} as const;

type Settings = z.output<z.ZodObject<typeof AcquirerSettings>>;

/** What no variable shows alone; for `superRefine` of a schema that holds them. */
export function checkAcquirerSettings(settings: Settings, context: z.RefinementCtx): void {
  const tls = tlsOf(settings);
  checkTlsIdentity(tls, 'ACQUIRER_TLS', context);
  const isPlain = URL.parse(settings.ACQUIRER_URL)?.protocol !== 'https:';
  if (isPlain && Object.values(tls).some((value) => value !== undefined)) {
    const message = 'expected https where ACQUIRER_TLS_CERT is set';
    context.addIssue({ code: 'custom', path: ['ACQUIRER_URL'], message });
  }
}

/** The client's own words for them. */
export function acquirerConfig(
  settings: Settings & { ACQUIRER_TIMEOUT_MS: number },
): AcquirerConfig {
  const tls = toTlsIdentity(tlsOf(settings));
  return {
    url: settings.ACQUIRER_URL,
    clientId: settings.ACQUIRER_CLIENT_ID,
    clientSecret: settings.ACQUIRER_CLIENT_SECRET,
    pixKey: settings.ACQUIRER_PIX_KEY,
    timeoutMs: settings.ACQUIRER_TIMEOUT_MS,
    ...(tls && { tls }),
  };
}

function tlsOf(settings: Settings) {
  const { ACQUIRER_TLS_CA: ca, ACQUIRER_TLS_CERT: cert, ACQUIRER_TLS_KEY: key } = settings;
  return { ca, cert, key };
}
