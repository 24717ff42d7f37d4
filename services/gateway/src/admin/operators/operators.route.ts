import { randomBytes } from 'node:crypto';

import { CreateOperatorBody } from '@pixmesh/contracts/admin/admin-bodies';
import { ListOperatorsQuery } from '@pixmesh/contracts/admin/admin-queries';
import { readBody } from '@pixmesh/http/json-request';
import { answerList, readListQuery } from '@pixmesh/http/list-page';
import { ignoreBodies } from '@pixmesh/http/service-app';
import { newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import { recordChange } from '../audit/record-change.ts';
import { digestToken } from '../authenticate-operator.ts';
import { found, requirePathId } from '../read-request.ts';
import {
  findOperator,
  insertOperator,
  listOperators,
  type Operator,
  removeOperator,
} from '../operators.sql.ts';

/** 256 random bits; the prefix lets secret scanners find a leaked token. */
const TOKEN_BYTES = 32;
const TOKEN_PREFIX = 'pxo_';

/** `/admin/operators`: the 201 alone carries `token`. */
export function registerOperators(app: FastifyInstance, { db }: { db: Database }): void {
  app.post('/admin/operators', async (request, reply) => {
    const { name } = readBody(CreateOperatorBody, request);
    const token = TOKEN_PREFIX + randomBytes(TOKEN_BYTES).toString('base64url');
    const operator = await db.transaction(async (tx) => {
      const stored = await insertOperator(tx, {
        id: newId(),
        name,
        tokenDigest: digestToken(token),
      });
      await recordChange(tx, {
        actor: request.actor,
        action: 'operator.created',
        target: { kind: 'operator', id: stored.id },
        before: null,
        after: toResource(stored),
      });
      return stored;
    });
    return reply.code(201).send({ ...toResource(operator), token });
  });

  app.get('/admin/operators', async (request) => {
    const page = readListQuery(ListOperatorsQuery, request.query);
    return await answerList({
      page,
      fetch: (limit) => listOperators(db, { ...page, limit }),
      cursorExists: async (id) => (await findOperator(db, id)) !== null,
      toResource,
    });
  });

  app.register(async (bodiless) => {
    ignoreBodies(bodiless);
    bodiless.delete('/admin/operators/:id', async (request, reply) => {
      const id = requirePathId(request);
      await db.transaction(async (tx) => {
        const removed = found(await removeOperator(tx, id));
        await recordChange(tx, {
          actor: request.actor,
          action: 'operator.removed',
          target: { kind: 'operator', id },
          before: toResource(removed),
          after: null,
        });
      });
      return reply.code(204).send();
    });
  });
}

function toResource(operator: Operator): object {
  return {
    id: operator.id,
    object: 'operator',
    name: operator.name,
    created_at: operator.createdAt.toISOString(),
  };
}
