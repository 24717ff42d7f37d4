import { z } from 'zod';

import { ChargeStatus } from './charge.ts';
import { InstantText, UpperInstantText } from './instant-text.ts';

/**
 * Filters of `GET /v1/charges`, beside paging. Boleto and card are in the vocabulary and find nothing (decision 96).
 */
export const ListChargesQuery = z.object({
  status: ChargeStatus.optional(),
  method: z.enum(['pix', 'boleto', 'card']).optional(),
  created_after: InstantText.optional(),
  created_before: UpperInstantText.optional(),
});
export type ListChargesQuery = z.output<typeof ListChargesQuery>;
