import {
  CreateAccountBody,
  UpdateAccountBody,
} from '@pixmesh/contracts/admin/admin-account-bodies';
import { ListAccountsQuery } from '@pixmesh/contracts/admin/admin-queries';
import { readBody } from '@pixmesh/http/json-request';
import { answerList, readListQuery } from '@pixmesh/http/list-page';
import { type AccountId, newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import {
  findAccount,
  insertAccount,
  listAccounts,
  lockAccount,
  updateAccount,
} from '#account/accounts.sql.ts';

import { recordChange } from '../audit/record-change.ts';
import { found, requirePathId } from '../read-request.ts';
import { toAccountResource } from './account-resource.ts';
import { buildLimitsChanged } from './build-limits-changed.ts';
import { decideAccount, newAccount } from './decide-account.ts';

type AccountsDeps = {
  db: Database;
  /** Wakes the outbox relay after a commit. */
  wakeOutbox(): void;
};

/** `/admin/accounts`. */
export function registerAccounts(app: FastifyInstance, deps: AccountsDeps): void {
  const { db } = deps;
  app.post('/admin/accounts', async (request, reply) => {
    const account = newAccount(newId(), readBody(CreateAccountBody, request));
    const stored = await db.transaction(async (tx) => {
      const inserted = await insertAccount(tx, account);
      await recordChange(tx, {
        actor: request.actor,
        action: 'account.created',
        target: { kind: 'account', id: inserted.id },
        before: null,
        after: toAccountResource(inserted),
      });
      return inserted;
    });
    return reply.code(201).send(toAccountResource(stored));
  });

  app.get('/admin/accounts', async (request) => {
    const page = readListQuery(ListAccountsQuery, request.query);
    return await answerList({
      page,
      fetch: (limit) => listAccounts(db, { ...page, limit }),
      cursorExists: async (id) => (await findAccount(db, id as AccountId)) !== null,
      toResource: toAccountResource,
    });
  });

  app.get('/admin/accounts/:id', async (request) => {
    return toAccountResource(found(await findAccount(db, requirePathId(request) as AccountId)));
  });

  app.patch('/admin/accounts/:id', async (request) => {
    const id = requirePathId(request) as AccountId;
    return await changeAccount(deps, { id, actor: request.actor }, () =>
      readBody(UpdateAccountBody, request),
    );
  });
}

/** Unknown ids are answered before the body is read: a missing account has no rules. */
async function changeAccount(
  { db, wakeOutbox }: AccountsDeps,
  { id, actor }: { id: AccountId; actor: string },
  readChange: () => UpdateAccountBody,
): Promise<object> {
  const { after, isAnnounced } = await db.transaction(async (tx) => {
    const before = found(await lockAccount(tx, id));
    const decided = decideAccount(before, readChange());
    const { after, isAnnounced } = decided;
    await updateAccount(tx, after, isAnnounced ? [buildLimitsChanged(after)] : []);
    await recordChange(tx, {
      actor,
      action: 'account.updated',
      target: { kind: 'account', id },
      before: toAccountResource(before),
      after: toAccountResource(after),
    });
    return decided;
  });
  if (isAnnounced) wakeOutbox();
  return toAccountResource(after);
}
