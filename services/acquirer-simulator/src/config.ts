import { CommonConfig, milliseconds, port } from '@pixmesh/service/config';
import {
  checkTlsIdentity,
  TLS_FIELDS,
  type TlsIdentity,
  toTlsIdentity,
} from '@pixmesh/service/tls-identity';
import { z } from 'zod';

import { isCertificate, isPrivateKey } from '@pixmesh/kernel/pem';
import { missingTlsSettings } from '#tls/read-mutual-tls.ts';

const CERTIFICATE_EXPECTED = 'expected a certificate in PEM';

const Settings = z.object({
  ...CommonConfig,
  /** Neither this process nor its control API nor the development receiver has a place in production. */
  NODE_ENV: z.enum(['development', 'test'], {
    error: 'expected development or test, as the acquirer simulator does not run in production',
  }),
  /** API Pix, the token endpoint and the control API. */
  PORT: port(),
  /** The development receiver of webhooks. */
  RECEIVER_PORT: port(),
  ACQUIRER_CLIENT_ID: z.string({ error: 'expected the client id' }).min(1),
  ACQUIRER_CLIENT_SECRET: z.string({ error: 'expected the client secret' }).min(1),
  /** Taken as well, while the client changes its secret. */
  ACQUIRER_OTHER_CLIENT_SECRET: z.string().min(1).optional(),
  /** The one Pix key of the simulated account. */
  ACQUIRER_PIX_KEY: z.string({ error: 'expected a Pix key' }).min(1).max(77),
  /** The provider's API once more, by HTTPS and for clients with a certificate of `TLS_CA`. All four or none. */
  TLS_PORT: port().optional(),
  TLS_CERT: z.string().refine(isCertificate, { error: CERTIFICATE_EXPECTED }).optional(),
  TLS_KEY: z.string().refine(isPrivateKey, { error: 'expected a private key in PEM' }).optional(),
  TLS_CA: z.string().refine(isCertificate, { error: CERTIFICATE_EXPECTED }).optional(),
  /** Who signed the certificates of callback URLs, the certificate that callbacks show and its key. */
  CALLBACK_CLIENT_TLS_CA: TLS_FIELDS.ca,
  CALLBACK_CLIENT_TLS_CERT: TLS_FIELDS.cert,
  CALLBACK_CLIENT_TLS_KEY: TLS_FIELDS.key,
  /** Limit of one callback attempt. */
  CALLBACK_TIMEOUT_MS: milliseconds(10_000),
  /** Wait after the first failed attempt; it doubles each time, up to the maximum. */
  CALLBACK_RETRY_DELAY_MS: milliseconds(500),
  CALLBACK_RETRY_DELAY_MS_MAX: milliseconds(10_000),
});

/** Settings of the simulator. It connects to Postgres and to the callback URL it is given, and to nothing else. */
export const AcquirerSimulatorConfig = Settings.superRefine((settings, context) => {
  for (const name of missingTlsSettings(settings)) {
    const message = 'expected together with the other TLS_ variables';
    context.addIssue({ code: 'custom', path: [name], message });
  }
  checkTlsIdentity(clientTlsOf(settings), 'CALLBACK_CLIENT_TLS', context);
});
export type AcquirerSimulatorConfig = z.output<typeof AcquirerSimulatorConfig>;

/** What callbacks show to a URL that asks for a certificate; null for nothing. */
export function callbackClientTls(config: AcquirerSimulatorConfig): TlsIdentity | null {
  return toTlsIdentity(clientTlsOf(config));
}

function clientTlsOf(settings: z.output<typeof Settings>) {
  const {
    CALLBACK_CLIENT_TLS_CA: ca,
    CALLBACK_CLIENT_TLS_CERT: cert,
    CALLBACK_CLIENT_TLS_KEY: key,
  } = settings;
  return { ca, cert, key };
}
