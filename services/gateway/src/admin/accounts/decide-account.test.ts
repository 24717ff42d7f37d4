import { newId } from '@pixmesh/kernel/ids';
import { describe, expect, test } from 'vitest';

import {
  CreateAccountBody,
  UpdateAccountBody,
} from '@pixmesh/contracts/admin/admin-account-bodies';
import { decideAccount, newAccount } from './decide-account.ts';

const REQUIRED = { name: 'Loja', legal_name: 'Loja Ltda', document: '529.982.247-25' };

function create(changes: object = {}) {
  return newAccount(newId(), CreateAccountBody.parse({ ...REQUIRED, ...changes }));
}

function change(account: ReturnType<typeof create>, changes: object) {
  const limits = {
    requests_per_minute_max: null,
    requests_in_flight_max: null,
    deliveries_per_second_max: 7,
  };
  const stored = { ...account, limits, limitsVersion: 3, createdAt: new Date() };
  return decideAccount(stored, UpdateAccountBody.parse(changes)).after;
}

describe('a new account', () => {
  test('has the defaults of the design and an unmasked document', () => {
    expect(create()).toMatchObject({
      document: '52998224725',
      documentType: 'cpf',
      phone: '',
      settings: {
        status: 'active',
        onboarding_status: 'pending',
        auto_payout_enabled: false,
        payouts_enabled: true,
        payout_fee: 0,
        charge_expires_in: 86_400,
        release_delay_seconds: 0,
        late_payment_policy: 'accept',
      },
    });
  });

  test('takes null as absent', () => {
    expect(create({ phone: null, payout_fee: null }).settings.payout_fee).toBe(0);
  });

  test('is inactive when it is rejected, whatever was asked for', () => {
    const { settings } = create({ onboarding_status: 'rejected', status: 'active' });
    expect(settings.status).toBe('inactive');
  });

  test('needs right check digits', () => {
    expect(() => create({ document: '529.982.247-24' })).toThrow(
      expect.objectContaining({ code: 'INVALID_DOCUMENT', details: ['document'] }) as Error,
    );
  });

  test.each([
    { phone: '11999999999' },
    { phone: '+0119999' },
    { phone: '+5511 99999' },
    { charge_expires_in: 59 },
    { charge_expires_in: 604_801 },
    { charge_expires_in: 60.5 },
    { payout_fee: -1 },
    { payout_fee: '1' },
    { release_delay_seconds: -1 },
    { late_payment_policy: 'refuse' },
    { status: 'closed' },
    { name: '' },
    { name: '   ' },
    { name: 'a\tb' },
    { legal_name: 7 },
  ])('is refused with %j', (changes) => {
    const result = CreateAccountBody.safeParse({ ...REQUIRED, ...changes });
    expect(result.error?.issues.map((issue) => issue.path.join('.'))).toEqual(Object.keys(changes));
  });
});

describe('a changed account', () => {
  test('keeps what the change does not name', () => {
    const account = create({ phone: '+5511999999999', payout_fee: 10 });
    const after = change(account, { name: 'Nova', phone: null, unknown: 1 });
    expect(after).toMatchObject({ ...account, name: 'Nova' });
  });

  test('takes false, zero and empty text for what they are', () => {
    const account = create({ phone: '+5511999999999', payout_fee: 10 });
    const after = change(account, { phone: '', payout_fee: 0, payouts_enabled: false });
    expect(after.phone).toBe('');
    expect(after.settings).toMatchObject({ payout_fee: 0, payouts_enabled: false });
  });

  test('cannot be made active while it is rejected', () => {
    const rejected = change(create(), { onboarding_status: 'rejected' });
    expect(rejected.settings.status).toBe('inactive');
    expect(change(rejected, { status: 'active' }).settings.status).toBe('inactive');
  });

  test('derives the kind of a new document', () => {
    expect(change(create(), { document: '12.ABC.345/01DE-35' })).toMatchObject({
      document: '12ABC34501DE35',
      documentType: 'cnpj',
    });
  });
});
