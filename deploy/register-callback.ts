import {
  acquirerConfig,
  AcquirerSettings,
  checkAcquirerSettings,
} from '@pixmesh/acquirer/acquirer-settings';
import { createAcquirer } from '@pixmesh/acquirer/client';
import { milliseconds, readConfig } from '@pixmesh/service/config';
import { z } from 'zod';

const Config = z
  .object({
    ...AcquirerSettings,
    ACQUIRER_TIMEOUT_MS: milliseconds(5_000),
    /** Origin of the gateway's callback listener, as the acquirer reaches it. */
    CALLBACK_URL: z.url({ error: 'expected a URL' }),
    CALLBACK_SECRET: z.string().min(32, { error: 'expected at least 32 characters' }),
  })
  .superRefine(checkAcquirerSettings);

/** Tells the acquirer where to send callbacks; the path carries the secret that authenticates them. */
export async function registerCallback(env: NodeJS.ProcessEnv = process.env): Promise<void> {
  const config = readConfig(Config, env);
  await using acquirer = createAcquirer(acquirerConfig(config));
  await acquirer.registerCallback(`${config.CALLBACK_URL}/acquirer/${config.CALLBACK_SECRET}`);
}
