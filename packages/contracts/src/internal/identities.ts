import { z } from 'zod';

/** Services that call or are called inside the mesh. */
export const ServiceName = z.enum([
  'gateway',
  'charges',
  'payouts',
  'ledger',
  'webhook-dispatcher',
]);
export type ServiceName = z.infer<typeof ServiceName>;

/**
 * Who may hold a certificate of the installation's authority; the common name of the certificate, and of the same name
 * as principal at the broker. `deploy` is the job that prepares topics, schemas and their rights, `tools` a person with
 * `npm run topics`, a benchmark or a test: on a laptop, never in production.
 */
export const IdentityName = z.enum([...ServiceName.options, 'deploy', 'tools']);
export type IdentityName = z.infer<typeof IdentityName>;
