import { subscribe, unsubscribe } from 'node:diagnostics_channel';

import type { FastifyInstance } from 'fastify';

/** Every route of a listener as the framework registers it, whoever asked for it: `GET /v1/charges/{id}`. */
export async function registeredRoutes(build: () => FastifyInstance): Promise<string[]> {
  const routes: string[] = [];
  const watch = (message: unknown) => {
    (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', ({ method, url }) => {
      for (const one of [method].flat()) routes.push(`${one} ${url.replaceAll(/:(\w+)/g, '{$1}')}`);
    });
  };
  subscribe('fastify.initialization', watch);
  try {
    const app = build();
    await app.ready();
    await app.close();
  } finally {
    unsubscribe('fastify.initialization', watch);
  }
  return routes;
}
