import { AppError } from '@pixmesh/kernel/app-error';
import { parseId } from '@pixmesh/kernel/ids';
import type { FastifyRequest } from 'fastify';

/** A path parameter as an id; ill-formed is unknown (decision 14). @throws AppError `NOT_FOUND` */
export function requirePathId(request: FastifyRequest): string {
  const id = parseId((request.params as { id: string }).id);
  if (id === null) throw new AppError('NOT_FOUND');
  return id;
}

/** What stands behind an id, or the one 404. @throws AppError `NOT_FOUND` */
export function found<T>(value: T | null): T {
  if (value === null) throw new AppError('NOT_FOUND');
  return value;
}
