import { DismissDeadLetterBody } from '../internal/dead-letters.ts';
import { RunReconciliationBody } from '../internal/reconciliation.ts';
import { CreateAccountBody, UpdateAccountBody } from './admin-account-bodies.ts';
import {
  CreateApplicationBody,
  CreateKeyBody,
  CreateOperatorBody,
  UpdateApplicationBody,
  UpdateKeyBody,
} from './admin-bodies.ts';
import { ADMIN_DELIVERY_ROUTES } from './admin-delivery-routes.ts';
import { ADMIN_MONEY_ROUTES } from './admin-money-routes.ts';
import {
  ListAccountsQuery,
  ListApplicationsQuery,
  ListAuditQuery,
  ListDeadLettersQuery,
  ListKeysInUseQuery,
  ListKeysQuery,
  ListOperatorsQuery,
  ListRequestsQuery,
} from './admin-queries.ts';
import { AccountLimits } from './account-limits.ts';
import {
  AdminAccount,
  ApiKey,
  Application,
  AuditEntry,
  CreatedApiKey,
  CreatedOperator,
  DeadLetter,
  InspectedDeadLetter,
  LoggedRequest,
  Operator,
  Reconciliation,
  ReplayedDeadLetter,
} from './admin-resources.ts';
import {
  act,
  type AdminRoutes,
  change,
  create,
  list,
  read,
  remove,
  tagged,
} from './admin-route.ts';

/** The table of `/admin` routes that exist: it drives the document, and a test holds the router to it. */
export const ADMIN_ROUTES: AdminRoutes = {
  ...tagged('Operators', {
    createOperator: create(
      '/admin/operators',
      'Add an operator; the answer alone carries the token',
      { body: CreateOperatorBody, response: CreatedOperator },
    ),
    listOperators: list('/admin/operators', 'List operators', {
      query: ListOperatorsQuery,
      items: Operator,
    }),
    removeOperator: remove(
      '/admin/operators/:id',
      'Remove an operator; the token is refused from the next request',
      { errors: ['NOT_FOUND'] },
    ),
    listAudit: list('/admin/audit', 'Who changed what', {
      query: ListAuditQuery,
      items: AuditEntry,
    }),
  }),
  ...tagged('Tenants', {
    createAccount: create('/admin/accounts', 'Create an account', {
      body: CreateAccountBody,
      response: AdminAccount,
      errors: ['INVALID_DOCUMENT'],
    }),
    listAccounts: list('/admin/accounts', 'List accounts', {
      query: ListAccountsQuery,
      items: AdminAccount,
    }),
    getAccount: read('/admin/accounts/:id', 'Read an account with its settings', {
      response: AdminAccount,
      errors: ['NOT_FOUND'],
    }),
    updateAccount: change('/admin/accounts/:id', 'Change an account; holds from the next request', {
      body: UpdateAccountBody,
      response: AdminAccount,
      errors: ['NOT_FOUND', 'INVALID_DOCUMENT'],
    }),
    getLimits: read(
      '/admin/accounts/:id/limits',
      'The limits of an account and of its keys, and how much of them is used now',
      { response: AccountLimits, errors: ['NOT_FOUND'] },
    ),
    createApplication: create(
      '/admin/accounts/:id/applications',
      'Add an application to an account',
      {
        body: CreateApplicationBody,
        repeatable: true,
        response: Application,
        errors: ['NOT_FOUND'],
      },
    ),
    listApplications: list(
      '/admin/accounts/:id/applications',
      'List the applications of an account',
      { query: ListApplicationsQuery, items: Application, errors: ['NOT_FOUND'] },
    ),
    updateApplication: change(
      '/admin/applications/:id',
      'Rename, deactivate or activate an application',
      { body: UpdateApplicationBody, response: Application, errors: ['NOT_FOUND'] },
    ),
    createKey: create(
      '/admin/applications/:id/keys',
      'Make an API key; the first answer alone carries it',
      { body: CreateKeyBody, repeatable: true, response: CreatedApiKey, errors: ['NOT_FOUND'] },
    ),
    listKeys: list('/admin/applications/:id/keys', 'List the keys of an application', {
      query: ListKeysQuery,
      items: ApiKey,
      errors: ['NOT_FOUND'],
    }),
    listKeysInUse: list(
      '/admin/keys',
      'List the keys of the installation that are not revoked; `pepper=old`: those that end with the old pepper',
      { query: ListKeysInUseQuery, items: ApiKey },
    ),
    updateKey: change(
      '/admin/keys/:id',
      'Suspend, resume, date or limit a key; holds from the next request',
      { body: UpdateKeyBody, response: ApiKey, errors: ['NOT_FOUND', 'CONFLICT'] },
    ),
    revokeKey: remove('/admin/keys/:id', 'Revoke a key for good; holds from the next request', {
      errors: ['NOT_FOUND'],
    }),
  }),
  ...ADMIN_MONEY_ROUTES,
  ...ADMIN_DELIVERY_ROUTES,
  ...tagged('Operations', {
    getReconciliation: read(
      '/admin/reconciliation',
      'The newest run of every service in one report',
      { response: Reconciliation },
    ),
    runReconciliation: act('/admin/reconciliation', 'Have every service run now', {
      body: RunReconciliationBody,
      bodyOptional: true,
      response: Reconciliation,
    }),
    listRequests: list('/admin/requests', 'The request log of the public listener', {
      query: ListRequestsQuery,
      items: LoggedRequest,
    }),
    listDeadLetters: list(
      '/admin/dead-letters',
      'Messages that services could not apply or publish',
      {
        query: ListDeadLettersQuery,
        items: DeadLetter,
      },
    ),
    getDeadLetter: read(
      '/admin/dead-letters/:service/:id',
      'Inspect a parked message: why, from where, and its content, redacted as logs are',
      { response: InspectedDeadLetter, errors: ['NOT_FOUND'] },
    ),
    replayDeadLetter: act(
      '/admin/dead-letters/:service/:id/replay',
      'Have a service apply a parked message again',
      { response: ReplayedDeadLetter, errors: ['NOT_FOUND', 'CONFLICT'] },
    ),
    dismissDeadLetter: act(
      '/admin/dead-letters/:service/:id/dismiss',
      'Give a parked message up, with the reason; one that could not be published stops holding back its key',
      {
        body: DismissDeadLetterBody,
        response: DeadLetter,
        errors: ['NOT_FOUND', 'CONFLICT'],
      },
    ),
  }),
};
