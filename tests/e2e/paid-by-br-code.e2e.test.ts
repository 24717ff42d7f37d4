import { expect, test } from 'vitest';

import { acquirer } from './acquirer.ts';
import { aMerchant, availableOf, createCharge, waitUntilPaid } from './mesh.ts';

test('a charge is paid by the text of its BR Code alone, over the signed payload at its location', async () => {
  const merchant = await aMerchant();
  const created = await createCharge(merchant);
  const paid = await acquirer.payCode(created.body.pix.br_code);
  expect(paid).toMatchObject({
    status: 201,
    body: {
      txid: created.body.id.replaceAll('-', ''),
      amount: created.body.amount,
      payload: { status: 'ATIVA', valor: { original: '12.34' } },
    },
  });
  const charge = await waitUntilPaid(merchant, created.body.id);
  expect(charge.pix.end_to_end_id).toBe(paid.body.end_to_end_id);
  expect(await availableOf(merchant)).toBe(created.body.amount);
  const again = await acquirer.payCode(created.body.pix.br_code);
  expect(again).toMatchObject({ status: 409, body: { details: ['location'] } });
});
