import { PUBLIC_ROUTES } from '../http/public-routes.ts';
import { ACCOUNT_BREAKS_PATH } from './account-breaks.ts';
import { ACCOUNT_USE_PATH } from './account-use.ts';
import { COMPARE_APPLICATIONS_PATH } from './compare-applications.ts';
import { COMPARE_EVENTS_PATH } from './compare-events.ts';
import { DEAD_LETTER_PATHS } from './dead-letters.ts';
import { DISPATCHERS_PATH } from './dispatchers.ts';
import type { IdentityName, ServiceName } from './identities.ts';
import { LOOKUP_JOURNALS_PATH } from './ledger-reads.ts';
import { OPERATOR_CHARGE_PATHS } from './operator-charges.ts';
import { OPERATOR_DELIVERY_PATHS } from './operator-deliveries.ts';
import { OPERATOR_DISPUTE_PATHS } from './operator-disputes.ts';
import { OPERATOR_PAYOUT_PATHS } from './operator-payouts.ts';
import { PAYOUT_STOP_PATHS } from './payout-stops.ts';
import { RESOLVE_SUSPENSE_PATH } from './suspense.ts';
import { TIMELINE_PATHS } from './timeline.ts';

/** Services with routes for others. */
export type OwnerName = Exclude<ServiceName, 'gateway'>;

/** What the gateway has to say of the one for whom it calls. Others call for themselves, and say nothing. */
export type ClaimsNeeded = 'tenant' | 'operator' | 'none';

export type InternalRoute = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: `/${string}`;
  readonly callers: readonly IdentityName[];
  readonly claims: ClaimsNeeded;
};

/** What every owner answers to operators, and to the service that stops money out. */
export const SHARED_ROUTES: readonly InternalRoute[] = [
  forOperators('GET', DEAD_LETTER_PATHS.list),
  forOperators('GET', DEAD_LETTER_PATHS.get),
  forOperators('POST', DEAD_LETTER_PATHS.replay),
  forOperators('POST', DEAD_LETTER_PATHS.dismiss),
  forOperators('GET', '/internal/reconciliation'),
  forOperators('POST', '/internal/reconciliation'),
  { method: 'GET', path: ACCOUNT_BREAKS_PATH, callers: ['payouts'], claims: 'none' },
];

/**
 * Who may call what inside the mesh (decision 256). An owner registers no other route, and refuses every other caller;
 * what is not written here is refused.
 */
export const INTERNAL_ROUTES: Readonly<Record<OwnerName, readonly InternalRoute[]>> = {
  charges: [
    ...forwardedTo('charges'),
    ...SHARED_ROUTES,
    forOperators('POST', OPERATOR_CHARGE_PATHS.request),
    forOperators('GET', OPERATOR_CHARGE_PATHS.list),
    forOperators('GET', OPERATOR_CHARGE_PATHS.get),
    forOperators('POST', OPERATOR_CHARGE_PATHS.cancel),
    forOperators('POST', OPERATOR_CHARGE_PATHS.refunds),
    forOperators('GET', OPERATOR_CHARGE_PATHS.refunds),
    forOperators('POST', OPERATOR_CHARGE_PATHS.check),
    forOperators('GET', OPERATOR_DISPUTE_PATHS.list),
    forOperators('GET', OPERATOR_DISPUTE_PATHS.get),
    forOperators('POST', OPERATOR_DISPUTE_PATHS.defense),
    forOperators('POST', OPERATOR_DISPUTE_PATHS.messages),
    forOperators('POST', RESOLVE_SUSPENSE_PATH),
    forOperators('GET', TIMELINE_PATHS.charge),
  ],
  payouts: [
    ...forwardedTo('payouts'),
    ...SHARED_ROUTES,
    forOperators('POST', OPERATOR_PAYOUT_PATHS.request),
    forOperators('GET', OPERATOR_PAYOUT_PATHS.list),
    forOperators('GET', OPERATOR_PAYOUT_PATHS.get),
    forOperators('POST', OPERATOR_PAYOUT_PATHS.approve),
    forOperators('POST', OPERATOR_PAYOUT_PATHS.cancel),
    forOperators('POST', OPERATOR_PAYOUT_PATHS.check),
    forOperators('POST', RESOLVE_SUSPENSE_PATH),
    forOperators('GET', PAYOUT_STOP_PATHS.list),
    forOperators('POST', PAYOUT_STOP_PATHS.stop),
    forOperators('POST', PAYOUT_STOP_PATHS.resume),
    forOperators('GET', TIMELINE_PATHS.payout),
  ],
  ledger: [
    ...forwardedTo('ledger'),
    ...SHARED_ROUTES,
    // Who orders a payout or a refund holds its money: for itself, and for no tenant.
    { method: 'PUT', path: '/internal/holds/:id', callers: ['charges', 'payouts'], claims: 'none' },
    {
      method: 'POST',
      path: '/internal/holds/:id/void',
      callers: ['charges', 'payouts'],
      claims: 'none',
    },
    { method: 'GET', path: '/internal/holds', callers: ['charges', 'payouts'], claims: 'none' },
    { method: 'GET', path: '/internal/holds/:id', callers: ['charges', 'payouts'], claims: 'none' },
    {
      method: 'POST',
      path: LOOKUP_JOURNALS_PATH,
      callers: ['gateway', 'charges', 'payouts'],
      claims: 'operator',
    },
    {
      method: 'GET',
      path: '/internal/journals',
      callers: ['charges', 'payouts'],
      claims: 'none',
    },
    { method: 'GET', path: '/internal/totals', callers: ['payouts'], claims: 'none' },
    forOperators('GET', '/internal/accounts/:id/balances'),
    forOperators('GET', '/internal/accounts/:id/journals'),
    forOperators('GET', '/internal/suspense'),
    forOperators('GET', '/internal/suspense/:id'),
  ],
  'webhook-dispatcher': [
    ...forwardedTo('webhook-dispatcher'),
    ...SHARED_ROUTES,
    forOperators('GET', OPERATOR_DELIVERY_PATHS.listWebhooks),
    forOperators('GET', OPERATOR_DELIVERY_PATHS.getWebhook),
    forOperators('POST', OPERATOR_DELIVERY_PATHS.changeWebhook),
    forOperators('POST', OPERATOR_DELIVERY_PATHS.testWebhook),
    forOperators('GET', OPERATOR_DELIVERY_PATHS.listDeliveries),
    forOperators('GET', OPERATOR_DELIVERY_PATHS.getDelivery),
    forOperators('POST', OPERATOR_DELIVERY_PATHS.resend),
    forOperators('POST', OPERATOR_DELIVERY_PATHS.requestRecovery),
    forOperators('GET', OPERATOR_DELIVERY_PATHS.listRecoveries),
    forOperators('GET', OPERATOR_DELIVERY_PATHS.getRecovery),
    forOperators('POST', OPERATOR_DELIVERY_PATHS.cancelRecovery),
    forOperators('GET', ACCOUNT_USE_PATH),
    forOperators('GET', DISPATCHERS_PATH),
    forOperators('POST', TIMELINE_PATHS.deliveries),
    { method: 'POST', path: COMPARE_EVENTS_PATH, callers: ['charges', 'payouts'], claims: 'none' },
    { method: 'POST', path: COMPARE_APPLICATIONS_PATH, callers: ['gateway'], claims: 'none' },
  ],
};

/** Arming of failpoints, on a listener of its own that production has not. */
export const FAILPOINTS_ROUTE = {
  method: 'PUT',
  path: '/failpoints',
  callers: ['tools'],
  claims: 'none',
} as const satisfies InternalRoute;

function forOperators(method: InternalRoute['method'], path: InternalRoute['path']): InternalRoute {
  return { method, path, callers: ['gateway'], claims: 'operator' };
}

/** The routes of `/v1` that the gateway hands to their owner. */
function forwardedTo(owner: OwnerName): InternalRoute[] {
  return Object.values(PUBLIC_ROUTES)
    .filter((route) => route.owner === owner)
    .map(({ method, path }) => ({ method, path, callers: ['gateway'], claims: 'tenant' }));
}
