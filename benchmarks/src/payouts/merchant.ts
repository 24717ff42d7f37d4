import { randomUUID } from 'node:crypto';

import { createDemoClient, type DemoClient } from '@pixmesh/local-stack/demo/demo-client';
import { call } from '@pixmesh/local-stack/http-call';
import { createDemoAccount } from '@pixmesh/local-stack/mesh/seed-demo-account';

import { until } from '../until.ts';
import type { Stack } from '../with-stack.ts';

/** Of the demo's accounts. */
export const FEE_CENTS = 50;
const FUNDS_CENTS = 2_000_000_000;
const PAGE = 100;
const CUSTOMER = { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' };

/** A merchant with more money than a benchmark can spend. */
export type Merchant = { key: string; fundsCents: number; client: DemoClient };

export type ListedPayout = { id: string; status: string; amount: number; fee: number };
type PayoutPage = { data: ListedPayout[]; has_more: boolean };

export async function createMerchant(stack: Stack, isAutomatic: boolean): Promise<Merchant> {
  const { accountId, apiKey } = await createDemoAccount(stack);
  await call('PATCH', `${stack.admin_url}/admin/accounts/${accountId}`, {
    headers: { authorization: `Bearer ${stack.admin_token}` },
    body: { auto_payout_enabled: isAutomatic },
  });
  const client = createDemoClient({ ...stack, api_key: apiKey });
  const body = { amount: FUNDS_CENTS, customer: CUSTOMER };
  const charge = await client.createCharge(body, randomUUID());
  await client.pay(charge.id);
  const isThere = async () => (await client.getAvailable()) === FUNDS_CENTS;
  await until('the money of the benchmark', isThere);
  return { key: apiKey, fundsCents: FUNDS_CENTS, client };
}

/** All payouts of a merchant. */
export async function listPayouts(stack: Stack, merchant: Merchant): Promise<ListedPayout[]> {
  const payouts: ListedPayout[] = [];
  for (let after = ''; ;) {
    const page = await readPage(stack, merchant, `limit=${PAGE}${after}`);
    payouts.push(...page.data);
    if (!page.has_more) return payouts;
    after = `&starting_after=${page.data.at(-1)?.id}`;
  }
}

/** Whether anything is still on its way to the acquirer. */
export async function isAnyProcessing(stack: Stack, merchant: Merchant): Promise<boolean> {
  return (await readPage(stack, merchant, 'status=processing&limit=1')).data.length > 0;
}

async function readPage(stack: Stack, { key }: Merchant, query: string): Promise<PayoutPage> {
  const headers = { 'x-api-key': key };
  return await call<PayoutPage>('GET', `${stack.gateway_url}/v1/payouts?${query}`, { headers });
}
