import { randomUUID } from 'node:crypto';

import { type Dispatcher, request } from 'undici';

import { until } from '../until.ts';
import type { Stack } from '../with-stack.ts';

export const FEE_CENTS = 50;
const FUNDS_CENTS = 2_000_000_000;
const PAGE = 100;

/** A merchant with more money than a benchmark can spend. */
export type Merchant = { accountId: string; key: string; fundsCents: number };

export type ListedPayout = { id: string; status: string; amount: number; fee: number };

export async function createMerchant(stack: Stack, isAutomatic: boolean): Promise<Merchant> {
  const admin = async (path: string, body: object) =>
    await call<{ id: string; key: string }>(`${stack.admin_url}/admin/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.admin_token}` },
      body,
    });
  const account = await admin('accounts', {
    name: 'Loja',
    legal_name: 'Loja Ltda',
    document: '11222333000181',
    onboarding_status: 'approved',
    auto_payout_enabled: isAutomatic,
    payout_fee: FEE_CENTS,
  });
  const application = await admin(`accounts/${account.id}/applications`, { name: 'bench' });
  const { key } = await admin(`applications/${application.id}/keys`, {
    name: 'bench',
    scopes: ['charge:write', 'charge:read', 'payout:write', 'payout:read', 'balance:read'],
  });
  const merchant = { accountId: account.id, key, fundsCents: FUNDS_CENTS };
  await fund(stack, merchant);
  return merchant;
}

export async function readAvailable(stack: Stack, merchant: Merchant): Promise<number> {
  const headers = { 'x-api-key': merchant.key };
  const { available } = await call<{ available: number }>(`${stack.gateway_url}/v1/balance`, {
    headers,
  });
  return available;
}

/** All payouts of a merchant. */
export async function listPayouts(stack: Stack, merchant: Merchant): Promise<ListedPayout[]> {
  const headers = { 'x-api-key': merchant.key };
  const payouts: ListedPayout[] = [];
  for (let after = ''; ;) {
    const url = `${stack.gateway_url}/v1/payouts?limit=${PAGE}${after}`;
    const page = await call<{ data: ListedPayout[]; has_more: boolean }>(url, { headers });
    payouts.push(...page.data);
    if (!page.has_more) return payouts;
    after = `&starting_after=${page.data.at(-1)?.id}`;
  }
}

/** Whether anything is still on its way to the acquirer. */
export async function isAnyProcessing(stack: Stack, merchant: Merchant): Promise<boolean> {
  const headers = { 'x-api-key': merchant.key };
  const url = `${stack.gateway_url}/v1/payouts?status=processing&limit=1`;
  return (await call<{ data: ListedPayout[] }>(url, { headers })).data.length > 0;
}

export async function call<T>(
  url: string,
  input: { method?: Dispatcher.HttpMethod; headers?: Record<string, string>; body?: object },
): Promise<T> {
  const answer = await request(url, {
    method: input.method ?? 'GET',
    headers: { 'content-type': 'application/json', ...input.headers },
    ...(input.body ? { body: JSON.stringify(input.body) } : {}),
  });
  const text = await answer.body.text();
  if (answer.statusCode < 300) return JSON.parse(text) as T;
  throw new Error(`${new URL(url).pathname} answered ${answer.statusCode}: ${text}`);
}

async function fund(stack: Stack, merchant: Merchant): Promise<void> {
  const charge = await call<{ id: string }>(`${stack.gateway_url}/v1/charges`, {
    method: 'POST',
    headers: { 'x-api-key': merchant.key, 'idempotency-key': randomUUID() },
    body: {
      amount: merchant.fundsCents,
      customer: { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' },
    },
  });
  await call(`${stack.simulator_url}/control/charges/${charge.id}/pay`, {
    method: 'POST',
    body: {},
  });
  await until(
    'the money of the benchmark',
    async () => (await readAvailable(stack, merchant)) === merchant.fundsCents,
  );
}
