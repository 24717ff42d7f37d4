import { z } from 'zod';

/** GET to the dispatcher → `AccountUse`, also for an account that it knows nothing of. */
export const ACCOUNT_USE_PATH = '/internal/accounts/:id/use';

/** What an account has at the dispatcher of that which operators may limit. */
export const AccountUse = z.object({ endpoints: z.int().min(0) });
export type AccountUse = z.infer<typeof AccountUse>;
