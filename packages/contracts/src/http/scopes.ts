import { z } from 'zod';

/** What a key may do (specification, Authentication). */
export const Scope = z.enum([
  'charge:read',
  'charge:write',
  'payout:read',
  'payout:write',
  'balance:read',
  'account:read',
  'webhook:read',
  'webhook:write',
]);
export type Scope = z.infer<typeof Scope>;
