import type { AccountId } from '@pixmesh/kernel/ids';

/**
 * What one owner's money can be. Every owner has its own `acquirer_clearing`: the sub-accounts of one clearing
 * account, summed where the whole is asked for. So no row is shared by two merchants' commands, and nobody
 * waits for a stranger's commit; a single clearing row would have all writers in one queue.
 */
export type AccountKind =
  | 'available'
  | 'pending'
  | 'held'
  | 'blocked'
  | 'suspense'
  | 'acquirer_clearing';

/**
 * Owner of money that no merchant owns (decision 141): a fixed id that no account can get, since accounts are
 * UUIDv7 of the present.
 */
export const PLATFORM_ACCOUNT_ID = '00000000-0000-7000-8000-000000000000' as AccountId;
