import type { AccountId } from '@pixmesh/kernel/ids';

/**
 * What one owner's money can be. The accounts of the platform (clearing, fees, tariffs) have a part under every
 * owner, and are summed where the whole is asked for. So no command ever locks another row than its owner's, and
 * no owner waits for the commit of another; a single row of fees would have all writers in one queue.
 */
export const ACCOUNT_KINDS = [
  'available',
  'pending',
  'held',
  'blocked',
  'suspense',
  'acquirer_clearing',
  'fees',
  'acquirer_tariffs',
] as const;
export type AccountKind = (typeof ACCOUNT_KINDS)[number];

/** Cents by kind of account, credits positive. */
export type Balances = Record<AccountKind, bigint>;

/** Something of each kind of account. Written out, so that all balances are objects of one shape. */
export function balancesOf<T>(read: (kind: AccountKind) => T): Record<AccountKind, T> {
  return {
    available: read('available'),
    pending: read('pending'),
    held: read('held'),
    blocked: read('blocked'),
    suspense: read('suspense'),
    acquirer_clearing: read('acquirer_clearing'),
    fees: read('fees'),
    acquirer_tariffs: read('acquirer_tariffs'),
  };
}

/** One owner's accounts as they stand while their row is locked. */
export type AccountState = {
  readonly balances: Balances;
  /** How far below zero templates of the MED have taken `available` (decision 137). */
  readonly forcedDebit: bigint;
  /** Number of the owner's newest journal, 0 before the first. */
  readonly version: bigint;
  /** Time of the owner's newest journal in milliseconds since 1970; minus infinity before the first. */
  readonly movedAtMs: number;
};

/**
 * Owner of money that no merchant owns (decision 141): a fixed id that no account can get, since accounts are
 * UUIDv7 of the present.
 */
export const PLATFORM_ACCOUNT_ID = '00000000-0000-7000-8000-000000000000' as AccountId;
