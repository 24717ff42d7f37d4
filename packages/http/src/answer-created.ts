import { ANSWER_HEADERS } from '@pixmesh/contracts/internal/headers';
import type { FastifyReply } from 'fastify';

/** 201 with the resource, whether new or replayed; headers tell which (decisions 42, 45). */
export function answerCreated(
  reply: FastifyReply,
  created: { replayed: boolean; mismatch: boolean },
  resource: object,
): FastifyReply {
  if (created.replayed) reply.header(ANSWER_HEADERS.replayed, 'true');
  if (created.mismatch) reply.header(ANSWER_HEADERS.mismatch, 'true');
  return reply.code(201).send(resource);
}
