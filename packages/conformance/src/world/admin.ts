import { z } from 'zod';

import type { HeaderValues, HttpClient } from '../client/http-client.ts';
import { shaped } from '../client/expectations.ts';
import { bodyWith, createMerchant, type Merchant } from './merchant.ts';

export const SCOPES = [
  'charge:read',
  'charge:write',
  'payout:read',
  'payout:write',
  'balance:read',
  'account:read',
  'webhook:read',
  'webhook:write',
] as const;

type CallOptions = { body?: object; status?: number; headers?: HeaderValues };
type KeyOptions = { scopes?: readonly string[]; expires_at?: string };

/** What stands in for the dashboard: accounts, applications, keys, approval. */
export type Admin = {
  /** Such as `call('POST /admin/accounts', { body, status: 201 })`; 200 by default. */
  call(route: string, options?: CallOptions): Promise<unknown>;
  createAccount(settings?: object): Promise<Merchant>;
  /** Another application of the merchant's account. */
  createApplication(accountId: string): Promise<Merchant>;
  /** Another key of the merchant's application. */
  createKey(merchant: Merchant, options?: KeyOptions): Promise<Merchant>;
  /** An operator that is not the one who asked. */
  approvePayout(payoutId: string): Promise<void>;
};

const Created = z.object({ id: z.string() });
const CreatedKey = Created.extend({ key: z.string() });
const CreatedOperator = Created.extend({ token: z.string() });

const ACCOUNT = { name: 'Loja', legal_name: 'Loja Ltda', document: '11222333000181' };

type AdminOptions = {
  http: HttpClient;
  url: string;
  adminUrl: string;
  token: string;
  /** Of what was made: keys must not reach a report. */
  recordSecret: (secret: string) => void;
};

export function createAdmin(options: AdminOptions): Admin {
  const call: Admin['call'] = (route, { body, status = 200, headers = {} } = {}) =>
    callAs(options, { token: options.token, route, body, status, headers });

  async function createKey(
    owner: { accountId: string; applicationId: string },
    keyOptions: KeyOptions = {},
  ): Promise<Merchant> {
    const path = `/admin/applications/${owner.applicationId}/keys`;
    const body = { name: 'conformance', scopes: SCOPES, ...keyOptions };
    const created = shaped(
      CreatedKey,
      await call(`POST ${path}`, { body: body, status: 201 }),
      'the new key',
    );
    options.recordSecret(created.key);
    return createMerchant(options, { key: created.key, ids: { ...owner, keyId: created.id } });
  }

  async function createApplication(accountId: string): Promise<Merchant> {
    const path = `/admin/accounts/${accountId}/applications`;
    const made = await call(`POST ${path}`, { body: { name: 'Site' }, status: 201 });
    return await createKey({ accountId, applicationId: shaped(Created, made, 'application').id });
  }

  return {
    call,
    createApplication,
    createKey: async (merchant, keyOptions) => await createKey(idsOf(merchant), keyOptions),
    createAccount: async (settings = {}) => {
      const made = await call('POST /admin/accounts', {
        body: { ...ACCOUNT, ...settings },
        status: 201,
      });
      return await createApplication(shaped(Created, made, 'account').id);
    },
    approvePayout: async (payoutId) => {
      const made = await call('POST /admin/operators', {
        body: { name: 'Conformance' },
        status: 201,
      });
      const { token } = shaped(CreatedOperator, made, 'operator');
      options.recordSecret(token);
      const path = `/admin/payouts/${payoutId}/approve`;
      const approval = { route: `POST ${path}`, body: undefined, status: 200, headers: {} };
      await callAs(options, { token, ...approval });
    },
  };
}

/** The ids of a merchant that the run made. */
export function idsOf(merchant: Merchant): NonNullable<Merchant['ids']> {
  if (merchant.ids === null) throw new Error('the ids of this merchant are not known');
  return merchant.ids;
}

type AdminCall = {
  token: string;
  route: string;
  body: object | undefined;
  status: number;
  headers: HeaderValues;
};

async function callAs({ http, adminUrl }: AdminOptions, call: AdminCall): Promise<unknown> {
  const [method = 'GET', path = ''] = call.route.split(' ');
  const answer = await http.send({
    method,
    url: adminUrl + path,
    headers: {
      authorization: `Bearer ${call.token}`,
      'content-type': 'application/json',
      ...call.headers,
    },
    body: Buffer.from(JSON.stringify(call.body ?? {})),
  });
  return bodyWith(answer, call.status);
}
