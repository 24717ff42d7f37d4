import { randomUUID } from 'node:crypto';

import { Scope } from '@pixmesh/contracts/http/scopes';

/** A call of the admin API that has to answer 2xx, and its body. */
export type AdminCall = (
  method: string,
  path: string,
  body?: object,
  // Callers read what design section 5 promises.
  // oxlint-disable-next-line typescript/no-explicit-any
) => Promise<any>;

/** An account with one application and a key that may do everything. */
export type Tenant = { accountId: string; applicationId: string; key: string };

/** Who may stand in front of a route, each as the flat headers that it sends. */
export type Principals = {
  own: Tenant;
  /** Another application of the same account. */
  sibling: Tenant;
  foreign: Tenant;
  /** An account that has been deactivated after it had resources: its key still reads (decision 38). */
  inactive: Tenant;
  /** Keys of `own` that lack one scope each, by scope. */
  lacking: Record<Scope, string>;
  /** A key without any scope. */
  scopeless: string;
  /** Headers of everybody who gets the one vague 401, by name. */
  strangers: Record<string, readonly string[]>;
};

const ALL_SCOPES = Scope.options;

/** A date on which nothing existed yet. */
const LONG_AGO = '2020-01-01T00:00:00.000Z';

/** Makes everybody; `inactive` is active until the test has given it resources. */
export async function createPrincipals(admin: AdminCall): Promise<Principals> {
  const own = await createTenant(admin);
  const sibling = await createApplication(admin, own.accountId);
  const foreign = await createTenant(admin);
  const inactive = await createTenant(admin);
  const lacking = {} as Record<Scope, string>;
  for (const scope of ALL_SCOPES) {
    const scopes = ALL_SCOPES.filter((one) => one !== scope);
    lacking[scope] = (await createKey(admin, own.applicationId, { scopes })).key;
  }
  const scopeless = (await createKey(admin, own.applicationId, { scopes: [] })).key;
  const strangers = await createStrangers(admin, own);
  return { own, sibling, foreign, inactive, lacking, scopeless, strangers };
}

export async function createTenant(admin: AdminCall, settings: object = {}): Promise<Tenant> {
  const account = await admin('POST', '/admin/accounts', {
    name: 'Loja',
    legal_name: 'Loja Ltda',
    document: '11222333000181',
    onboarding_status: 'approved',
    auto_payout_enabled: false,
    ...settings,
  });
  return await createApplication(admin, account.id);
}

async function createApplication(admin: AdminCall, accountId: string): Promise<Tenant> {
  const path = `/admin/accounts/${accountId}/applications`;
  const application = await admin('POST', path, { name: 'Site' });
  const { key } = await createKey(admin, application.id);
  return { accountId, applicationId: application.id, key };
}

async function createKey(
  admin: AdminCall,
  applicationId: string,
  body: object = {},
): Promise<{ id: string; key: string }> {
  const path = `/admin/applications/${applicationId}/keys`;
  return await admin('POST', path, { name: randomUUID(), scopes: ALL_SCOPES, ...body });
}

async function createStrangers(
  admin: AdminCall,
  own: Tenant,
): Promise<Record<string, readonly string[]>> {
  const revoked = await createKey(admin, own.applicationId);
  await admin('DELETE', `/admin/keys/${revoked.id}`);
  const expired = await createKey(admin, own.applicationId, { expires_at: LONG_AGO });
  const suspended = await createKey(admin, own.applicationId);
  await admin('PATCH', `/admin/keys/${suspended.id}`, { suspended: true });
  const closed = await createApplication(admin, own.accountId);
  await admin('PATCH', `/admin/applications/${closed.applicationId}`, { active: false });
  return {
    revoked: ['x-api-key', revoked.key],
    expired: ['x-api-key', expired.key],
    suspended: ['x-api-key', suspended.key],
    'of a deactivated application': ['x-api-key', closed.key],
    'without a key': [],
    'with a blank key': ['x-api-key', ''],
    'with a key of spaces': ['x-api-key', '   '],
    'with its key twice': ['x-api-key', own.key, 'x-api-key', own.key],
    'with its key and another': ['X-API-Key', own.key, 'x-api-key', 'pxm_x'],
    'with two keys in one header': ['x-api-key', `${own.key}, ${own.key}`],
    'with garbage': ['x-api-key', 'garbage'],
    'with an over-long key': ['x-api-key', own.key.repeat(60)],
    'with a mistyped key': ['x-api-key', swapLast(own.key)],
    'with its key in upper case': ['x-api-key', own.key.toUpperCase()],
    'with its key as a bearer token': ['authorization', `Bearer ${own.key}`],
    'with its key as a cookie': ['cookie', `x-api-key=${own.key}`],
  };
}

/** One character off at the end: the checksum does not hold any more. */
function swapLast(key: string): string {
  return key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
}
