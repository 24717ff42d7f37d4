import { readFileSync } from 'node:fs';

import type { FastifyInstance } from 'fastify';

import { renderPage } from './render-page.ts';
import { readState, type StateDeps } from './state.ts';

/** Nothing but the page's own two files; no frames, no forms that leave, no inline code. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

const FILES = [
  { name: 'page.js', type: 'text/javascript; charset=utf-8' },
  { name: 'page.css', type: 'text/css; charset=utf-8' },
] as const;

/** `GET /`: what there is, with a button for every call of the control API. A page of another site may link here. */
export function addPage(app: FastifyInstance, deps: StateDeps): void {
  app.get('/', async (_request, reply) => {
    const page = renderPage(await readState(deps));
    return await reply.headers(HEADERS).type('text/html; charset=utf-8').send(page);
  });
  for (const { name, type } of FILES) {
    const content = readFileSync(new URL(`assets/${name}`, import.meta.url));
    app.get(`/page/${name}`, async (_request, reply) => {
      return await reply.headers(HEADERS).type(type).send(content);
    });
  }
}

/** `GET /control/state`: what the page shows, as JSON. */
export function addReadState(app: FastifyInstance, deps: StateDeps): void {
  app.get('/control/state', async (_request, reply) => await reply.send(await readState(deps)));
}
