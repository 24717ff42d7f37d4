import type { FastifyInstance } from 'fastify';

import { createReferencePage, REFERENCE_PATH, REFERENCE_SCRIPT_PATH } from './reference-page.ts';
import { sendStatic } from './static-answer.ts';

/** `GET /reference`: the listener's document for people, and the one script that it loads. For anybody. */
export function registerReferencePage(app: FastifyInstance, title: string): void {
  const page = createReferencePage(title);
  app.get(REFERENCE_PATH, async (request, reply) =>
    sendStatic(request, reply, (await page.load()).page),
  );
  app.get(REFERENCE_SCRIPT_PATH, async (request, reply) =>
    sendStatic(request, reply, (await page.load()).script),
  );
}
