import { DisputeReason } from '@pixmesh/contracts/http/dispute';
import type { z } from 'zod';

/** Why the payer contests, in the product's vocabulary (decision 192). */
export function readReason(word: string): z.infer<typeof DisputeReason> {
  const known = DisputeReason.safeParse(word.toLowerCase());
  return known.success ? known.data : 'other';
}
