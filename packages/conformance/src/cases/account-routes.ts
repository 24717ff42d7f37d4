import { section, it, staged } from '../suite/case.ts';
import { equal } from '../client/expectations.ts';
import { idsOf } from '../world/admin.ts';
import { readAccount, readBalance } from '../world/fixtures.ts';
import { bodyWith } from '../world/merchant.ts';

export const READ_BALANCE_CASES = section('read-balance', [
  it('no-parameters', 'No parameters: what is sent changes nothing', async (w) => {
    bodyWith(await w.own.call('GET /v1/balance?currency=USD'), 200);
  }),
  it('balance', 'Response `200`: balance object', async (w) => {
    equal((await readBalance(w.own)).object, 'balance', 'object');
  }),
  it.admin('new', 'a new account has nothing', async (w) => {
    const { available, pending, total } = await readBalance(await w.admin.createAccount());
    equal([available, pending, total], [0, 0, 0], 'available, pending and total');
  }),
  staged('of-the-account', 'the balance is of the account: other keys see it', async (w) => {
    const merchant = await w.once('balance merchant', async () => {
      const made = await w.admin.createAccount();
      await w.fund(made, 2_500);
      return made;
    });
    const sister = await w.admin.createApplication(idsOf(merchant).accountId);
    equal((await readBalance(sister)).available, 2_500, 'available by another application');
  }),
]);

export const READ_ACCOUNT_CASES = section('read-account', [
  it('no-parameters', 'No parameters: what is sent changes nothing', async (w) => {
    bodyWith(await w.own.call('GET /v1/account?id=1'), 200);
  }),
  it('account', 'Response `200`: account object', async (w) => {
    equal((await readAccount(w.own)).object, 'account', 'object');
  }),
  it.admin('owns-the-key', 'of the account that owns the key', async (w) => {
    const one = await w.admin.createAccount({ name: 'Primeira' });
    const other = await w.admin.createAccount({ name: 'Segunda' });
    equal((await readAccount(one)).id, idsOf(one).accountId, 'id');
    equal((await readAccount(other)).name, 'Segunda', 'name');
  }),
  it.admin('current', 'the account is shown as it is now', async (w) => {
    const merchant = await w.admin.createAccount();
    const path = `/admin/accounts/${idsOf(merchant).accountId}`;
    await w.admin.call(`PATCH ${path}`, { body: { auto_payout_enabled: true } });
    equal((await readAccount(merchant)).auto_payout_enabled, true, 'auto_payout_enabled');
  }),
]);
