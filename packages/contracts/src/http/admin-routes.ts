import type { z } from 'zod';

import { ListOperatorPayoutsQuery, OperatorPayout } from '../internal/operator-payouts.ts';
import { RunReconciliationBody } from '../internal/reconciliation.ts';
import { CreateAccountBody, UpdateAccountBody } from './admin-account-bodies.ts';
import {
  CreateApplicationBody,
  CreateKeyBody,
  CreateOperatorBody,
  UpdateApplicationBody,
  UpdateKeyBody,
} from './admin-bodies.ts';
import {
  BalancesQuery,
  ListAccountsQuery,
  ListApplicationsQuery,
  ListAuditQuery,
  ListDeadLettersQuery,
  ListJournalsQuery,
  ListKeysQuery,
  ListOperatorsQuery,
  ListRequestsQuery,
  ListSuspenseQuery,
} from './admin-queries.ts';
import {
  AdminAccount,
  ApiKey,
  Application,
  AuditEntry,
  Balances,
  CreatedApiKey,
  CreatedOperator,
  DeadLetter,
  Journal,
  LoggedRequest,
  Operator,
  Reconciliation,
  ReplayedDeadLetter,
  SuspenseItem,
} from './admin-resources.ts';
import { CreatePayoutBody } from './create-payout-body.ts';
import type { PublicErrorCode } from './error-body.ts';
import { listOf } from './list-envelope.ts';

/** One route of `/admin`: what an operator, the dashboard or the CLI may ask. */
export type AdminRoute = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: `/admin/${string}`;
  readonly tag: 'Operators' | 'Tenants' | 'Money' | 'Operations';
  readonly summary: string;
  readonly status: 200 | 201 | 204;
  readonly body: z.ZodType | null;
  /** Whether the call means something without a body. */
  readonly bodyOptional?: true;
  readonly query: z.ZodType | null;
  /** Takes `limit` and `starting_after`. */
  readonly paged: boolean;
  /** Takes an `Idempotency-Key`, with the account as namespace (design section 5). */
  readonly repeatable: boolean;
  readonly response: z.ZodType | null;
  /** Codes of this route beside those that every route may answer. */
  readonly errors: readonly PublicErrorCode[];
};

const ROUTE = {
  status: 200,
  body: null,
  query: null,
  paged: false,
  repeatable: false,
  errors: [],
} as const;
const READ = { ...ROUTE, method: 'GET' } as const;
const LIST = { ...READ, paged: true } as const;
const NEW = { ...ROUTE, method: 'POST', status: 201 } as const;
const REMOVE = { ...ROUTE, method: 'DELETE', status: 204, response: null } as const;

/** The table of `/admin` routes that exist: it drives the document, and a test holds the router to it. */
export const ADMIN_ROUTES = {
  createOperator: {
    ...NEW,
    path: '/admin/operators',
    tag: 'Operators',
    summary: 'Add an operator; the answer alone carries the token',
    body: CreateOperatorBody,
    response: CreatedOperator,
    errors: ['PAYLOAD_TOO_LARGE'],
  },
  listOperators: {
    ...LIST,
    path: '/admin/operators',
    tag: 'Operators',
    summary: 'List operators',
    query: ListOperatorsQuery,
    response: listOf(Operator),
  },
  removeOperator: {
    ...REMOVE,
    path: '/admin/operators/:id',
    tag: 'Operators',
    summary: 'Remove an operator; the token is refused from the next request',
    errors: ['NOT_FOUND'],
  },
  listAudit: {
    ...LIST,
    path: '/admin/audit',
    tag: 'Operators',
    summary: 'Who changed what',
    query: ListAuditQuery,
    response: listOf(AuditEntry),
  },
  createAccount: {
    ...NEW,
    path: '/admin/accounts',
    tag: 'Tenants',
    summary: 'Create an account',
    body: CreateAccountBody,
    response: AdminAccount,
    errors: ['INVALID_DOCUMENT', 'PAYLOAD_TOO_LARGE'],
  },
  listAccounts: {
    ...LIST,
    path: '/admin/accounts',
    tag: 'Tenants',
    summary: 'List accounts',
    query: ListAccountsQuery,
    response: listOf(AdminAccount),
  },
  getAccount: {
    ...READ,
    path: '/admin/accounts/:id',
    tag: 'Tenants',
    summary: 'Read an account with its settings',
    response: AdminAccount,
    errors: ['NOT_FOUND'],
  },
  updateAccount: {
    ...ROUTE,
    method: 'PATCH',
    path: '/admin/accounts/:id',
    tag: 'Tenants',
    summary: 'Change an account; holds from the next request',
    body: UpdateAccountBody,
    response: AdminAccount,
    errors: ['NOT_FOUND', 'INVALID_DOCUMENT', 'PAYLOAD_TOO_LARGE'],
  },
  createApplication: {
    ...NEW,
    path: '/admin/accounts/:id/applications',
    tag: 'Tenants',
    summary: 'Add an application to an account',
    body: CreateApplicationBody,
    repeatable: true,
    response: Application,
    errors: ['NOT_FOUND', 'IDEMPOTENCY_KEY_REQUIRED', 'PAYLOAD_TOO_LARGE'],
  },
  listApplications: {
    ...LIST,
    path: '/admin/accounts/:id/applications',
    tag: 'Tenants',
    summary: 'List the applications of an account',
    query: ListApplicationsQuery,
    response: listOf(Application),
    errors: ['NOT_FOUND'],
  },
  updateApplication: {
    ...ROUTE,
    method: 'PATCH',
    path: '/admin/applications/:id',
    tag: 'Tenants',
    summary: 'Rename, deactivate or activate an application',
    body: UpdateApplicationBody,
    response: Application,
    errors: ['NOT_FOUND', 'PAYLOAD_TOO_LARGE'],
  },
  createKey: {
    ...NEW,
    path: '/admin/applications/:id/keys',
    tag: 'Tenants',
    summary: 'Make an API key; the first answer alone carries it',
    body: CreateKeyBody,
    repeatable: true,
    response: CreatedApiKey,
    errors: ['NOT_FOUND', 'IDEMPOTENCY_KEY_REQUIRED', 'PAYLOAD_TOO_LARGE'],
  },
  listKeys: {
    ...LIST,
    path: '/admin/applications/:id/keys',
    tag: 'Tenants',
    summary: 'List the keys of an application',
    query: ListKeysQuery,
    response: listOf(ApiKey),
    errors: ['NOT_FOUND'],
  },
  updateKey: {
    ...ROUTE,
    method: 'PATCH',
    path: '/admin/keys/:id',
    tag: 'Tenants',
    summary: 'Suspend, resume or date a key; holds from the next request',
    body: UpdateKeyBody,
    response: ApiKey,
    errors: ['NOT_FOUND', 'CONFLICT', 'PAYLOAD_TOO_LARGE'],
  },
  revokeKey: {
    ...REMOVE,
    path: '/admin/keys/:id',
    tag: 'Tenants',
    summary: 'Revoke a key for good; holds from the next request',
    errors: ['NOT_FOUND'],
  },
  requestPayout: {
    ...NEW,
    path: '/admin/accounts/:id/payouts',
    tag: 'Money',
    summary: 'Request a payout, which a second operator has to approve',
    body: CreatePayoutBody,
    repeatable: true,
    response: OperatorPayout,
    errors: [
      'NOT_FOUND',
      'IDEMPOTENCY_KEY_REQUIRED',
      'METHOD_NOT_SUPPORTED',
      'AMOUNT_BELOW_MINIMUM',
      'INVALID_WEBHOOK_URL',
      'PAYOUTS_DISABLED',
      'INSUFFICIENT_BALANCE',
      'PAYLOAD_TOO_LARGE',
    ],
  },
  listPayouts: {
    ...LIST,
    path: '/admin/payouts',
    tag: 'Money',
    summary: 'List payouts of all accounts',
    query: ListOperatorPayoutsQuery,
    response: listOf(OperatorPayout),
  },
  getPayout: {
    ...READ,
    path: '/admin/payouts/:id',
    tag: 'Money',
    summary: 'Read a payout, with what explains where it stands',
    response: OperatorPayout,
    errors: ['PAYOUT_NOT_FOUND'],
  },
  approvePayout: {
    ...ROUTE,
    method: 'POST',
    path: '/admin/payouts/:id/approve',
    tag: 'Money',
    summary: 'Approve a payout that another operator or an application requested',
    response: OperatorPayout,
    errors: [
      'NOT_FOUND',
      'PAYOUT_NOT_FOUND',
      'PAYOUT_NOT_PENDING',
      'APPROVER_MUST_DIFFER',
      'PAYOUTS_DISABLED',
    ],
  },
  cancelPayout: {
    ...ROUTE,
    method: 'POST',
    path: '/admin/payouts/:id/cancel',
    tag: 'Money',
    summary: 'Cancel a payout that waits for approval',
    response: OperatorPayout,
    errors: ['PAYOUT_NOT_FOUND', 'PAYOUT_NOT_PENDING'],
  },
  getBalances: {
    ...READ,
    path: '/admin/accounts/:id/balances',
    tag: 'Money',
    summary: 'Every part of an account’s money, now or at an instant',
    query: BalancesQuery,
    response: Balances,
    errors: ['NOT_FOUND'],
  },
  listJournals: {
    ...LIST,
    path: '/admin/accounts/:id/journals',
    tag: 'Money',
    summary: 'The journals of an account with their entries',
    query: ListJournalsQuery,
    response: listOf(Journal),
    errors: ['NOT_FOUND'],
  },
  listSuspense: {
    ...LIST,
    path: '/admin/suspense',
    tag: 'Money',
    summary: 'Money that waits for an operator, or did',
    query: ListSuspenseQuery,
    response: listOf(SuspenseItem),
  },
  getReconciliation: {
    ...READ,
    path: '/admin/reconciliation',
    tag: 'Operations',
    summary: 'The newest run of every service in one report',
    response: Reconciliation,
  },
  runReconciliation: {
    ...ROUTE,
    method: 'POST',
    path: '/admin/reconciliation',
    tag: 'Operations',
    summary: 'Have every service run now',
    body: RunReconciliationBody,
    bodyOptional: true,
    response: Reconciliation,
    errors: ['PAYLOAD_TOO_LARGE'],
  },
  listRequests: {
    ...LIST,
    path: '/admin/requests',
    tag: 'Operations',
    summary: 'The request log of the public listener',
    query: ListRequestsQuery,
    response: listOf(LoggedRequest),
  },
  listDeadLetters: {
    ...LIST,
    path: '/admin/dead-letters',
    tag: 'Operations',
    summary: 'Messages that services could not apply',
    query: ListDeadLettersQuery,
    response: listOf(DeadLetter),
  },
  replayDeadLetter: {
    ...ROUTE,
    method: 'POST',
    path: '/admin/dead-letters/:service/:id/replay',
    tag: 'Operations',
    summary: 'Have a service apply a parked message again',
    response: ReplayedDeadLetter,
    errors: ['NOT_FOUND', 'CONFLICT'],
  },
} as const satisfies Record<string, AdminRoute>;
