import { readdirSync, readFileSync } from 'node:fs';

import type { FastifyInstance } from 'fastify';

import { sendStatic, toStaticAnswer } from '#openapi/static-answer.ts';

const DOCUMENTS = new URL('../../../../docs/', import.meta.url);

/** Folders of guides, as the document of a listener links to them. */
export type GuideFolder = 'guides' | 'guides/merchants';

/**
 * `GET /<folder>/<name>.md` for each guide of a folder, for anybody: the API document that is served beside them links
 * to them (ADR 0021). As plain text, which every browser shows; read once, as the process starts.
 */
export function registerGuides(app: FastifyInstance, folder: GuideFolder): void {
  for (const file of listGuides(folder)) {
    const guide = toStaticAnswer(readFileSync(new URL(`${folder}/${file}`, DOCUMENTS)), {
      'content-type': 'text/plain; charset=utf-8',
    });
    app.get(`/${folder}/${file}`, async (request, reply) =>
      sendStatic(request, reply, await guide),
    );
  }
}

export function listGuides(folder: GuideFolder): string[] {
  return readdirSync(new URL(`${folder}/`, DOCUMENTS))
    .filter((file) => file.endsWith('.md'))
    .toSorted();
}
