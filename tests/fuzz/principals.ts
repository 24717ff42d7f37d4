import { Scope } from '@pixmesh/contracts/http/scopes';

import { adminBody, aKeyOf, aMerchant, anApplicationOf, type Merchant } from '../e2e/mesh.ts';

/** Who may stand in front of a route, each as the flat headers that it sends. */
export type Principals = {
  own: Merchant;
  /** Another application of the same account. */
  sibling: Merchant;
  foreign: Merchant;
  /** An account that has been deactivated after it had resources: its key still reads (decision 38). */
  inactive: Merchant;
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
export async function createPrincipals(): Promise<Principals> {
  const own = await anApprovedMerchant();
  const sibling = await anApplicationOf(own.accountId);
  const foreign = await anApprovedMerchant();
  const inactive = await anApprovedMerchant();
  const lacking = {} as Record<Scope, string>;
  for (const scope of ALL_SCOPES) {
    const scopes = ALL_SCOPES.filter((one) => one !== scope);
    lacking[scope] = (await aKeyOf(own.applicationId, { scopes })).key;
  }
  const scopeless = (await aKeyOf(own.applicationId, { scopes: [] })).key;
  const strangers = await createStrangers(own);
  return { own, sibling, foreign, inactive, lacking, scopeless, strangers };
}

/** May pay out, by hand: no payout of a test leaves by itself. */
export async function anApprovedMerchant(): Promise<Merchant> {
  return await aMerchant({ onboarding_status: 'approved', auto_payout_enabled: false });
}

async function createStrangers(own: Merchant): Promise<Record<string, readonly string[]>> {
  const revoked = await aKeyOf(own.applicationId);
  await adminBody('DELETE', `/admin/keys/${revoked.id}`);
  const expired = await aKeyOf(own.applicationId, { expires_at: LONG_AGO });
  const suspended = await aKeyOf(own.applicationId);
  await adminBody('PATCH', `/admin/keys/${suspended.id}`, { suspended: true });
  const closed = await anApplicationOf(own.accountId);
  await adminBody('PATCH', `/admin/applications/${closed.applicationId}`, { active: false });
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
