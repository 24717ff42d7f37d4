import { OPERATOR_DISPUTE_PATHS } from '@pixmesh/contracts/internal/operator-disputes';
import { z } from 'zod';

/** A dispute as its changes need it; charges owns it. */
export const DISPUTE = {
  owner: 'charges',
  kind: 'dispute',
  get: OPERATOR_DISPUTE_PATHS.get,
  schema: z.object({ id: z.uuid(), account_id: z.uuid(), status: z.string() }),
} as const;
