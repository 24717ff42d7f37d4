import { tlsIdentity } from '@pixmesh/service/tls-identity';
import { z } from 'zod';

import type { AcquirerConfig } from './client.ts';

/** Who signed the acquirer's certificate, our own certificate and its key. */
const TLS = tlsIdentity('ACQUIRER_TLS');

/** Environment of every process that calls the acquirer; where `X` is a secret, `X_FILE` may name its file. */
export const AcquirerSettings = {
  ACQUIRER_URL: z.url({ protocol: /^https?$/, error: 'expected an http(s) URL' }),
  ACQUIRER_CLIENT_ID: z.string({ error: 'expected the client id' }).min(1),
  ACQUIRER_CLIENT_SECRET: z.string({ error: 'expected the client secret' }).min(1),
  ACQUIRER_PIX_KEY: z.string({ error: 'expected the Pix key of the acquirer account' }).min(1),
  ...TLS.shape,
} as const;

type Settings = z.output<z.ZodObject<typeof AcquirerSettings>>;

/** What no variable shows alone; for `superRefine` of a schema that holds them. */
export function checkAcquirerSettings(settings: Settings, context: z.RefinementCtx): void {
  TLS.check(settings, context);
  const isSet = Object.keys(TLS.shape).some((name) => name in settings);
  if (isSet && URL.parse(settings.ACQUIRER_URL)?.protocol !== 'https:') {
    const message = 'expected https where ACQUIRER_TLS_CERT is set';
    context.addIssue({ code: 'custom', path: ['ACQUIRER_URL'], message });
  }
}

/** The client's own words for them. */
export function acquirerConfig(
  settings: Settings & { ACQUIRER_TIMEOUT_MS: number },
): AcquirerConfig {
  const tls = TLS.read(settings);
  return {
    url: settings.ACQUIRER_URL,
    clientId: settings.ACQUIRER_CLIENT_ID,
    clientSecret: settings.ACQUIRER_CLIENT_SECRET,
    pixKey: settings.ACQUIRER_PIX_KEY,
    timeoutMs: settings.ACQUIRER_TIMEOUT_MS,
    ...(tls && { tls }),
  };
}
