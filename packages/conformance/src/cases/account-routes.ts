import { equal } from '../client/expectations.ts';
import { it, section, staged } from '../suite/case.ts';
import { bodyWith } from '../world/api-client.ts';
import { fundedMerchant } from '../world/world.ts';

export const READ_BALANCE_CASES = section('read-balance', [
  it('no-parameters', 'No parameters: what is sent changes nothing', async (w) => {
    bodyWith(await w.own.call('GET /v1/balance?currency=USD'), 200);
  }),
  it('balance', 'Response `200`: balance object', async (w) => {
    equal((await w.own.balance()).object, 'balance', 'object');
  }),
  it.admin('new', 'a new account has nothing', async (w) => {
    const { available, pending, total } = await (await w.admin.createAccount()).balance();
    equal([available, pending, total], [0, 0, 0], 'available, pending and total');
  }),
  staged('of-the-account', 'the balance is of the account: other keys see it', async (w) => {
    const merchant = await fundedMerchant(w, 2_500, {});
    const sister = await w.admin.createApplication(merchant.ids.accountId);
    equal((await sister.balance()).available, 2_500, 'available by another application');
  }),
]);

export const READ_ACCOUNT_CASES = section('read-account', [
  it('no-parameters', 'No parameters: what is sent changes nothing', async (w) => {
    bodyWith(await w.own.call('GET /v1/account?id=1'), 200);
  }),
  it('account', 'Response `200`: account object', async (w) => {
    equal((await w.own.account()).object, 'account', 'object');
  }),
  it.admin('owns-the-key', 'of the account that owns the key', async (w) => {
    const one = await w.admin.createAccount({ name: 'Primeira' });
    const other = await w.admin.createAccount({ name: 'Segunda' });
    equal((await one.account()).id, one.ids.accountId, 'id');
    equal((await other.account()).name, 'Segunda', 'name');
  }),
  it.admin('current', 'the account is shown as it is now', async (w) => {
    const merchant = await w.admin.createAccount();
    const path = `/admin/accounts/${merchant.ids.accountId}`;
    await w.admin.call(`PATCH ${path}`, { body: { auto_payout_enabled: true } });
    equal((await merchant.account()).auto_payout_enabled, true, 'auto_payout_enabled');
  }),
]);
