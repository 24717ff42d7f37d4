import { AppError } from '@pixmesh/kernel/app-error';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { sendError } from './error-reply.ts';
import { explained } from './refusal.ts';

/**
 * Unknown paths answer 404 `NOT_FOUND`, known paths with another method 405 with `Allow`; with or without a
 * key (decisions 3, 254). Nothing of a body is read.
 */
export function answerUnknownRoutes(app: FastifyInstance): void {
  const routes: { pattern: RegExp; method: string }[] = [];
  app.addHook('onRoute', (route) => {
    const methods = Array.isArray(route.method) ? route.method : [route.method];
    const pattern = toPattern(route.url);
    for (const method of methods) routes.push({ pattern, method });
    // Before the route's own hooks, and after those of the app, which say something on every answer.
    route.onRequest = [refuseEmptyParameter, route.onRequest ?? []].flat();
  });
  // After the `onRequest` hooks, so that a listener which asks every caller for a token does so here too.
  app.addHook('preParsing', async (request, reply) => {
    if (request.is404) throw refusalOf(request, reply);
  });
  app.setNotFoundHandler((request, reply) => sendError(reply, refusalOf(request, reply)));

  function refusalOf(request: FastifyRequest, reply: FastifyReply): AppError {
    const path = pathOf(request);
    const allowed = routes.filter((route) => route.pattern.test(path)).map(({ method }) => method);
    if (allowed.length === 0) return new AppError('NOT_FOUND');
    const methods = [...new Set(allowed)].join(', ');
    reply.header('allow', methods);
    return explained('METHOD_NOT_ALLOWED', `This path takes ${methods}.`);
  }
}

/** As the router reads it: without a fragment, and with `%63` as the letter that it stands for. */
function pathOf({ url }: FastifyRequest): string {
  return decodeURI(url.split(/[?#]/, 1)[0] ?? '');
}

/** The router takes a trailing slash for a parameter without characters (decision 27). */
async function refuseEmptyParameter(
  { params }: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const isEmpty = Object.entries(params as object).some(
    ([name, value]) => name !== '*' && value === '',
  );
  return isEmpty ? reply.callNotFound() : undefined;
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
