import type { Account } from '@pixmesh/contracts/http/account';
import type { AccountId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import assert from 'node:assert';

import { toAccount } from './account.ts';
import { findAccount } from './accounts.sql.ts';

/** `GET /v1/account`: the account that owns the key, also while it is inactive (decision 38). */
export async function getAccount(
  deps: { db: Database },
  caller: { accountId: AccountId },
): Promise<Account> {
  const account = await findAccount(deps.db, caller.accountId);
  assert(account, 'accounts are never deleted');
  return toAccount(account);
}
