import assert from 'node:assert';
import { createHash } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';

import scalar from '@scalar/fastify-api-reference';
import fastify from 'fastify';

import type { ReferenceFiles } from './reference-page.ts';
import { toStaticAnswer } from './static-answer.ts';

const INLINE_SCRIPT = /<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g;

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port between threads has no origin
parentPort?.postMessage(await renderFiles());

/** Takes page and script from the plugin once; its own routes know neither entity tags nor this listener's rules. */
async function renderFiles(): Promise<ReferenceFiles> {
  await using app = fastify();
  await app.register(scalar, {
    routePrefix: '/plugin',
    configuration: {
      // Relative to `/reference`, so that a path before it does no harm.
      url: 'openapi.json',
      cdn: 'reference/scalar.js',
      pageTitle: workerData as string,
      // Nothing is loaded from, or sent to, any other host.
      withDefaultFonts: false,
      telemetry: false,
      agent: { disabled: true },
      mcp: { disabled: true },
      showDeveloperTools: 'never',
      hideClientButton: true,
      persistAuth: false,
      defaultOpenAllTags: true,
      documentDownloadType: 'direct',
    },
  });
  const html = await read(app, '/plugin/');
  const script = await read(app, '/plugin/js/scalar.js');
  return {
    page: await toStaticAnswer(html, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': buildPolicy(html),
      'referrer-policy': 'no-referrer',
    }),
    script: await toStaticAnswer(script, { 'content-type': 'text/javascript; charset=utf-8' }),
  };
}

async function read(app: ReturnType<typeof fastify>, url: string): Promise<string> {
  const answer = await app.inject({ url });
  assert.equal(answer.statusCode, 200, `the plugin serves no ${url}`);
  return answer.body;
}

/**
 * Scripts of this origin and the one inline script by its hash; calls to this origin only. Styles are written at run
 * time by the page's script, so they cannot be named in advance.
 */
function buildPolicy(html: string): string {
  const hashes = [...html.matchAll(INLINE_SCRIPT)].map(
    ([, code = '']) => `'sha256-${createHash('sha256').update(code).digest('base64')}'`,
  );
  return [
    "default-src 'none'",
    `script-src 'self' ${hashes.join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
