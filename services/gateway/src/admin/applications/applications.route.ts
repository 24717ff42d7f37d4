import {
  CreateApplicationBody,
  UpdateApplicationBody,
} from '@pixmesh/contracts/admin/admin-bodies';
import { ListApplicationsQuery } from '@pixmesh/contracts/admin/admin-queries';
import { answerCreated } from '@pixmesh/http/answer-created';
import { type CreatedOnce, createOnce } from '@pixmesh/http/create-once';
import { readBody } from '@pixmesh/http/json-request';
import { answerList, readListQuery } from '@pixmesh/http/list-page';
import type { AccountId, ApplicationId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { findAccount } from '#account/accounts.sql.ts';

import { recordChange } from '../audit/record-change.ts';
import { fingerprintOf, readAdminCreationId } from '../creation-id.ts';
import { found, requirePathId } from '../read-request.ts';
import {
  type Application,
  findApplication,
  insertApplication,
  listApplications,
  lockApplication,
  updateApplication,
} from './applications.sql.ts';
import { buildApplicationChanged } from './build-application-changed.ts';
import { decideApplication } from './decide-application.ts';

const FIRST_VERSION = 1;

export type ApplicationDeps = {
  db: Database;
  /** Wakes the outbox relay after a commit. */
  wakeOutbox(): void;
};

/** `/admin/accounts/{id}/applications` and `/admin/applications/{id}`. */
export function registerApplications(app: FastifyInstance, deps: ApplicationDeps): void {
  const { db } = deps;
  app.post('/admin/accounts/:id/applications', async (request, reply) => {
    const outcome = await createApplication(deps, request);
    if (!outcome.replayed) deps.wakeOutbox();
    return answerCreated(reply, outcome, toApplicationResource(outcome.stored));
  });

  app.get('/admin/accounts/:id/applications', async (request) => {
    const page = readListQuery(ListApplicationsQuery, request.query);
    const account = found(await findAccount(db, requirePathId(request) as AccountId));
    return await answerList({
      page,
      fetch: (limit) => listApplications(db, account.id, { ...page, limit }),
      cursorExists: async (id) =>
        (await findApplication(db, id as ApplicationId))?.accountId === account.id,
      toResource: toApplicationResource,
    });
  });

  app.patch('/admin/applications/:id', (request) => changeApplication(deps, request));
}

async function createApplication(
  { db }: ApplicationDeps,
  request: FastifyRequest,
): Promise<CreatedOnce<Application>> {
  const { id: accountId } = found(await findAccount(db, requirePathId(request) as AccountId));
  const creation = readAdminCreationId(request, accountId, 'application');
  const id = creation.id as ApplicationId;
  return await createOnce(creation.repeatable, {
    find: () => findApplication(db, id),
    readBody: () => readBody(CreateApplicationBody, request),
    fingerprint: (body) => fingerprintOf(accountId, body),
    insert: (body, fingerprint) =>
      db.transaction(async (tx) => {
        const application = { id, accountId, ...body, version: FIRST_VERSION, fingerprint };
        const event = buildApplicationChanged(application);
        const stored = await insertApplication(tx, application, event);
        if (stored === null) return null;
        await recordChange(tx, {
          actor: request.actor,
          action: 'application.created',
          target: { kind: 'application', id },
          before: null,
          after: toApplicationResource(stored),
        });
        return stored;
      }),
  });
}

async function changeApplication(deps: ApplicationDeps, request: FastifyRequest): Promise<object> {
  const id = requirePathId(request) as ApplicationId;
  const { after, isAnnounced } = await deps.db.transaction(async (tx) => {
    const before = found(await lockApplication(tx, id));
    const body = readBody(UpdateApplicationBody, request);
    const decided = decideApplication(before, body);
    const { after, isAnnounced } = decided;
    await updateApplication(tx, after, isAnnounced ? [buildApplicationChanged(after)] : []);
    await recordChange(tx, {
      actor: request.actor,
      action: 'application.updated',
      target: { kind: 'application', id },
      before: toApplicationResource(before),
      after: toApplicationResource(after),
    });
    return decided;
  });
  if (isAnnounced) deps.wakeOutbox();
  return toApplicationResource(after);
}

function toApplicationResource(application: Application): object {
  return {
    id: application.id,
    object: 'application',
    account_id: application.accountId,
    name: application.name,
    active: application.active,
    created_at: application.createdAt.toISOString(),
  };
}
