import { ANSWER_HEADERS } from '@pixmesh/contracts/internal/headers';
import type { FastifyReply } from 'fastify';

type Replay = { replayed: boolean; mismatch: boolean };

/** 201 with the resource, whether new or replayed; headers tell which (decisions 42, 45). */
export function answerCreated(
  reply: FastifyReply,
  created: Replay,
  resource: object,
): FastifyReply {
  markReplay(reply, created);
  return reply.code(201).send(resource);
}

export function markReplay(reply: FastifyReply, { replayed, mismatch }: Replay): void {
  if (replayed) reply.header(ANSWER_HEADERS.replayed, 'true');
  if (mismatch) reply.header(ANSWER_HEADERS.mismatch, 'true');
}
