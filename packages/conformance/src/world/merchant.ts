import { randomUUID } from 'node:crypto';

import type { HttpClient } from '../client/http-client.ts';
import { Account, Balance, Charge, ChargeItem, Payout } from '../client/schemas.ts';
import { createApiClient } from './api-client.ts';
import { createCollection } from './collection.ts';
import { createEndpoints } from './endpoints.ts';

/** Known only of merchants that the run made for itself. */
type Ids = { accountId: string; applicationId: string; keyId: string };

/** One application of a merchant, as seen through its key. */
export type Merchant = ReturnType<typeof createMerchant>;
/** The two lists that come in pages. */
export type Kind = 'charges' | 'payouts';

export const CUSTOMER = {
  name: 'Ana Souza',
  email: 'ana.souza@example.com',
  document: '529.982.247-25',
} as const;

/** A customer whom nobody else charges. */
export function aCustomer() {
  return { ...CUSTOMER, name: `Ana ${randomUUID()}` };
}

/** A recipient's key that nobody else pays. */
export function aPixKey(): string {
  return `${randomUUID()}@example.com`;
}

/** Valid bodies with nothing but what is required. */
export const CHARGE_BODY = { amount: 1_234, customer: CUSTOMER };
export const PAYOUT_BODY = { amount: 500, pix_key_type: 'email', pix_key: 'joao.lima@example.com' };

const CHARGES = {
  noun: 'charge',
  required: CHARGE_BODY,
  item: Charge,
  listed: ChargeItem,
} as const;
const PAYOUTS = { noun: 'payout', required: PAYOUT_BODY, item: Payout, listed: Payout } as const;

export function createMerchant(
  { hookBase, ...deps }: { http: HttpClient; url: string; hookBase: string },
  { key, ids }: { key: string; ids: Ids },
) {
  const client = createApiClient(deps, key);
  return {
    key,
    ids,
    ...client,
    charges: createCollection(client, CHARGES),
    payouts: createCollection(client, PAYOUTS),
    endpoints: createEndpoints(client, hookBase),
    balance: () => client.read('/balance', Balance),
    account: () => client.read('/account', Account),
  };
}
