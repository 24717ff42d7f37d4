import {
  acquirerConfig,
  AcquirerSettings,
  checkAcquirerSettings,
} from '@pixmesh/acquirer/acquirer-settings';
import { createAcquirer } from '@pixmesh/acquirer/client';
import { EnvironmentConfig, milliseconds, readConfig } from '@pixmesh/service/config';
import { TLS_FIELDS } from '@pixmesh/service/tls-identity';
import { rotatableSecret } from '@pixmesh/service/rotatable-secret';
import { z } from 'zod';

export const CallbackConfig = z
  .object({
    ...EnvironmentConfig,
    ...AcquirerSettings,
    ACQUIRER_TIMEOUT_MS: milliseconds(5_000),
    /** Origin of the gateway's callback listener, as the acquirer reaches it. */
    CALLBACK_URL: z.url({ error: 'expected a URL' }),
    CALLBACK_SECRET: rotatableSecret(
      (text) => (text.length >= 32 ? text : null),
      'expected at least 32 characters',
    ),
    /** The gateway's: where it is set, the listener refuses callers without the acquirer's certificate. */
    CALLBACK_TLS_CA: TLS_FIELDS.ca,
  })
  .superRefine(checkAcquirerSettings)
  .refine((config) => !config.CALLBACK_TLS_CA || config.CALLBACK_URL.startsWith('https:'), {
    path: ['CALLBACK_URL'],
    error: 'expected https, since CALLBACK_TLS_CA is set',
  });

/** Tells the acquirer where to send callbacks; the path carries the current secret that authenticates them. */
export async function registerCallback(env: NodeJS.ProcessEnv = process.env): Promise<void> {
  const config = readConfig(CallbackConfig, env);
  await using acquirer = createAcquirer(acquirerConfig(config));
  const url = `${config.CALLBACK_URL}/acquirer/${config.CALLBACK_SECRET.current}`;
  await acquirer.registerCallback(url, { mutualTls: config.CALLBACK_TLS_CA !== undefined });
}
