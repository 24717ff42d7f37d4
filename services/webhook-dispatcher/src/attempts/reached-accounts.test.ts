import { newId } from '@pixmesh/kernel/ids';
import { expect, test } from 'vitest';

import { createReachedAccounts, REACH_KEPT_MS } from './reached-accounts.ts';

test('an account counts once, and as reached if any of its receivers was', () => {
  const accounts = createReachedAccounts();
  const [dead, half, live] = [newId(), newId(), newId()];
  for (const reason of ['dns_failed', 'connect_failed', 'timeout'] as const) {
    accounts.note(dead, reason);
    accounts.note(half, reason);
  }
  accounts.note(half, 'status');
  accounts.note(half, 'connection_lost');
  accounts.note(live, null);
  expect(accounts.count()).toEqual({ reached: 2, unreached: 1 });
});

test('an attempt that tried no connection says nothing of its account', () => {
  const accounts = createReachedAccounts();
  accounts.note(newId(), 'secret_unreadable');
  accounts.note(newId(), 'url_refused');
  expect(accounts.count()).toEqual({ reached: 0, unreached: 0 });
});

test('an account that was reached counts as unreached once it was not for as long as that is kept', () => {
  let nowMs = 0;
  const accounts = createReachedAccounts(() => nowMs);
  const accountId = newId();
  accounts.note(accountId, null);
  nowMs += REACH_KEPT_MS;
  accounts.note(accountId, 'connect_failed');
  expect(accounts.count()).toEqual({ reached: 1, unreached: 0 });
  nowMs += 1;
  expect(accounts.count()).toEqual({ reached: 0, unreached: 1 });
  nowMs += REACH_KEPT_MS;
  expect(accounts.count()).toEqual({ reached: 0, unreached: 0 });
});
