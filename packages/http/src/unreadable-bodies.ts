import { AppError } from '@pixmesh/kernel/app-error';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/**
 * Refuses a body whose headers do not say clearly how it is to be read: one under a content coding, of which none
 * is understood here, and one with two media types, of which Node shows the first alone. Neither is ever ignored.
 * It comes after the hooks of the route and before a byte is read, as the refusal of a body that is too large.
 */
export function refuseUnreadableBodies(app: FastifyInstance): void {
  app.addHook('preParsing', async (request) => {
    const fault = announcesBody(request) ? findFault(request) : null;
    if (fault !== null) throw new AppError('VALIDATION_ERROR', { details: [fault] });
  });
}

/** The body of a GET means nothing and is never read (RFC 9110 section 9.3.1). */
function announcesBody({ headers, method }: FastifyRequest): boolean {
  if (method === 'GET') return false;
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

function findFault({ headers, raw }: FastifyRequest): string | null {
  const coding = headers['content-encoding']?.trim().toLowerCase();
  if (coding !== undefined && coding !== 'identity') return 'content-encoding';
  const types = raw.rawHeaders.filter(
    (name, index) => index % 2 === 0 && name.toLowerCase() === 'content-type',
  );
  return types.length > 1 ? 'content-type' : null;
}
