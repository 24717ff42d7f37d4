import { AppError } from '@pixmesh/kernel/app-error';
import type { FastifyInstance } from 'fastify';

import { sendError } from './error-reply.ts';

/**
 * Unknown paths answer 404 `NOT_FOUND`, known paths with another method 405 with `Allow`; with or without a
 * key (decisions 3, 254).
 */
export function answerUnknownRoutes(app: FastifyInstance): void {
  const routes: { pattern: RegExp; method: string }[] = [];
  app.addHook('onRoute', (route) => {
    const methods = Array.isArray(route.method) ? route.method : [route.method];
    const pattern = toPattern(route.url);
    for (const method of methods) routes.push({ pattern, method });
  });
  app.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const allowed = routes.filter((route) => route.pattern.test(path)).map(({ method }) => method);
    if (allowed.length === 0) return sendError(reply, new AppError('NOT_FOUND'));
    reply.header('allow', [...new Set(allowed)].join(', '));
    return sendError(reply, new AppError('METHOD_NOT_ALLOWED'));
  });
}

/** A route template as an anchored pattern: `:id` stands for one segment, `*` for whatever follows. */
function toPattern(template: string): RegExp {
  const source = template.split('/').map(toSegmentPattern).join('/');
  return new RegExp(`^${source}$`);
}

function toSegmentPattern(part: string): string {
  if (part.startsWith(':')) return '[^/]+';
  return part === '*' ? '.*' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
