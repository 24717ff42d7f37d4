import { z } from 'zod';

import { InstantText, UpperInstantText } from './instant-text.ts';
import { PayoutStatus } from './payout.ts';

/** Filters of `GET /v1/payouts`, beside paging. TED is known to the filter and made by nobody (decision 129). */
export const ListPayoutsQuery = z.object({
  status: PayoutStatus.optional(),
  method: z.enum(['pix', 'ted']).optional(),
  created_after: InstantText.optional(),
  created_before: UpperInstantText.optional(),
});
export type ListPayoutsQuery = z.output<typeof ListPayoutsQuery>;
