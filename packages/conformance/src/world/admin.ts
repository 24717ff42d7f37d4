import { z } from 'zod';

import { shaped } from '../client/expectations.ts';
import type { HeaderValues, HttpClient } from '../client/http-client.ts';
import { bodyWith } from './api-client.ts';
import { createMerchant, type Merchant } from './merchant.ts';

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

type CallOptions = { body?: object; status?: number; headers?: HeaderValues; token?: string };
type KeyOptions = { scopes?: readonly string[]; expires_at?: string };

/** What stands in for the dashboard: accounts, applications, keys, approval. */
export type Admin = ReturnType<typeof createAdmin>;

const Created = z.object({ id: z.string() });
const CreatedKey = Created.extend({ key: z.string() });
const CreatedOperator = Created.extend({ token: z.string() });

const ACCOUNT = { name: 'Loja', legal_name: 'Loja Ltda', document: '11222333000181' };

type AdminOptions = {
  http: HttpClient;
  url: string;
  hookBase: string;
  adminUrl: string;
  token: string;
  /** Of what was made: keys must not reach a report. */
  recordSecret: (secret: string) => void;
};

export function createAdmin(options: AdminOptions) {
  return {
    call,
    createAccount: async (settings: object = {}): Promise<Merchant> => {
      const body = { ...ACCOUNT, ...settings };
      const made = await call('POST /admin/accounts', { body, status: 201 });
      return await createApplication(shaped(Created, made, 'account').id);
    },
    /** Another application of the merchant's account. */
    createApplication,
    /** Another key of the merchant's application. */
    createKey: (merchant: Merchant, keyOptions?: KeyOptions) => createKey(merchant.ids, keyOptions),
    /** An operator that is not the one who asked. */
    approvePayout: async (payoutId: string): Promise<void> => {
      const body = { name: 'Conformance' };
      const made = await call('POST /admin/operators', { body, status: 201 });
      const { token } = shaped(CreatedOperator, made, 'operator');
      options.recordSecret(token);
      await call(`POST /admin/payouts/${payoutId}/approve`, { token });
    },
  };

  /** Such as `call('POST /admin/accounts', { body, status: 201 })`; 200 by default. */
  async function call(route: string, callOptions: CallOptions = {}): Promise<unknown> {
    const { body = {}, status = 200, headers = {}, token = options.token } = callOptions;
    const [method = 'GET', path = ''] = route.split(' ');
    const answer = await options.http.send({
      method,
      url: options.adminUrl + path,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...headers,
      },
      body: Buffer.from(JSON.stringify(body)),
    });
    return bodyWith(answer, status);
  }

  async function createApplication(accountId: string): Promise<Merchant> {
    const path = `/admin/accounts/${accountId}/applications`;
    const made = await call(`POST ${path}`, { body: { name: 'Site' }, status: 201 });
    return await createKey({ accountId, applicationId: shaped(Created, made, 'application').id });
  }

  async function createKey(
    owner: { accountId: string; applicationId: string },
    keyOptions: KeyOptions = {},
  ): Promise<Merchant> {
    const path = `/admin/applications/${owner.applicationId}/keys`;
    const body = { name: 'conformance', scopes: SCOPES, ...keyOptions };
    const made = await call(`POST ${path}`, { body, status: 201 });
    const { id, key } = shaped(CreatedKey, made, 'the new key');
    options.recordSecret(key);
    return createMerchant(options, { key, ids: { ...owner, keyId: id } });
  }
}
