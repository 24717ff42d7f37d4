import { CommonConfig, milliseconds, port } from '@pixmesh/http/config';
import { z } from 'zod';

/** Settings of the simulator. It speaks to nobody but Postgres and the callback URL it is given. */
export const AcquirerSimulatorConfig = z.object({
  ...CommonConfig,
  /** API Pix, the token endpoint and the control API. */
  PORT: port(),
  /** The development receiver of webhooks. */
  RECEIVER_PORT: port(),
  ACQUIRER_CLIENT_ID: z.string({ error: 'expected the client id' }).min(1),
  ACQUIRER_CLIENT_SECRET: z.string({ error: 'expected the client secret' }).min(1),
  /** The one Pix key of the simulated account. */
  ACQUIRER_PIX_KEY: z.string({ error: 'expected a Pix key' }).min(1).max(77),
  /** Limit of one callback attempt. */
  CALLBACK_TIMEOUT_MS: milliseconds(10_000),
  /** Wait after the first failed attempt; it doubles each time, up to the maximum. */
  CALLBACK_RETRY_DELAY_MS: milliseconds(500),
  CALLBACK_RETRY_DELAY_MS_MAX: milliseconds(10_000),
});
export type AcquirerSimulatorConfig = z.output<typeof AcquirerSimulatorConfig>;
