import { randomUUID } from 'node:crypto';

import { Scope } from '@pixmesh/contracts/http/scopes';

import { type DrillMesh, succeeded } from '../mesh/drill-mesh.ts';

/** An account with an application and a key that may do everything. */
export type Merchant = { accountId: string; applicationId: string; keyId: string; key: string };

export const CHARGE_CENTS = 2_000;
export const PAYOUT_CENTS = 500;
const CUSTOMER = { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' };
const RECIPIENT = { pix_key_type: 'email', pix_key: 'joao@example.com' };

export async function createMerchant(mesh: DrillMesh): Promise<Merchant> {
  const account = await made(mesh, 'POST /admin/accounts', {
    name: 'Loja',
    legal_name: 'Loja Ltda',
    document: '11222333000181',
    onboarding_status: 'approved',
    auto_payout_enabled: true,
  });
  const applications = `POST /admin/accounts/${account}/applications`;
  const application = await made(mesh, applications, { name: 'Site' });
  return {
    accountId: account,
    applicationId: application,
    ...(await createKey(mesh, application)),
  };
}

export async function createKey(
  mesh: DrillMesh,
  applicationId: string,
): Promise<{ keyId: string; key: string }> {
  const route = `POST /admin/applications/${applicationId}/keys`;
  const body = { name: randomUUID(), scopes: Scope.options };
  const answer = succeeded(route, await mesh.admin({ route, body }));
  return { keyId: String(answer.body['id']), key: String(answer.body['key']) };
}

/** Safe to repeat under the same key. */
export async function createCharge(
  mesh: DrillMesh,
  { key }: Pick<Merchant, 'key'>,
  { idempotencyKey, webhookUrl }: { idempotencyKey: string; webhookUrl?: string },
): Promise<string> {
  const body = {
    amount: CHARGE_CENTS,
    customer: CUSTOMER,
    ...(webhookUrl === undefined ? {} : { webhook_url: webhookUrl }),
  };
  const headers = { 'idempotency-key': idempotencyKey };
  const route = 'POST /charges';
  return String(succeeded(route, await mesh.v1(key, { route, headers, body })).body['id']);
}

export async function createPayout(
  mesh: DrillMesh,
  { key }: Pick<Merchant, 'key'>,
  idempotencyKey: string,
): Promise<string> {
  const body = { amount: PAYOUT_CENTS, ...RECIPIENT };
  const headers = { 'idempotency-key': idempotencyKey };
  const route = 'POST /payouts';
  return String(succeeded(route, await mesh.v1(key, { route, headers, body })).body['id']);
}

/** The payer's side. One that was paid before answers 409, which is as good. */
export async function pay(mesh: DrillMesh, chargeId: string): Promise<void> {
  const route = `POST /control/charges/${chargeId}/pay`;
  const answer = await mesh.simulator({ route, body: {} });
  if (answer.status !== 409) succeeded(route, answer);
}

export async function statusOf(
  mesh: DrillMesh,
  { key }: Pick<Merchant, 'key'>,
  resource: string,
): Promise<string> {
  const route = `GET /${resource}`;
  return String(succeeded(route, await mesh.v1(key, { route })).body['status']);
}

export async function availableOf(
  mesh: DrillMesh,
  { key }: Pick<Merchant, 'key'>,
): Promise<number> {
  const route = 'GET /balance';
  return Number(succeeded(route, await mesh.v1(key, { route })).body['available']);
}

async function made(mesh: DrillMesh, route: string, body: object): Promise<string> {
  return String(succeeded(route, await mesh.admin({ route, body })).body['id']);
}
