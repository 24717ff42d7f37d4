import { buildPublicDocument } from '@pixmesh/contracts/openapi/build-public-document';
import { createLogger } from '@pixmesh/telemetry/logger';
import { expect, test } from 'vitest';

import { registeredRoutes } from '@pixmesh/http/testing/registered-routes';

import { listGuides } from '#guides/guides.route.ts';

import { OPEN_EDGE } from '#test/open-edge.ts';

import { buildPublicApp } from '../public-app.ts';

/** What the listener serves beside `/v1`, and the document therefore leaves out (decision 224). */
const BESIDE = [
  'GET /.well-known/security.txt',
  'GET /openapi.json',
  'GET /reference',
  'GET /reference/scalar.js',
  ...listGuides('guides/merchants').map((file) => `GET /guides/merchants/${file}`),
];

/** Only registered, never called: nothing behind the routes is needed. */
function build() {
  return buildPublicApp({
    logger: createLogger('gateway', 'silent'),
    edge: OPEN_EDGE,
    securityTxt: { contact: 'mailto:a@example.com', canonicalUrl: null, expiresAt: new Date() },
  } as unknown as Parameters<typeof buildPublicApp>[0]);
}

test('the document and the live router know the same routes, both ways', async () => {
  const documented = Object.entries(buildPublicDocument().paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const live = await registeredRoutes(build);
  expect(live.toSorted()).toEqual([...documented, ...BESIDE].toSorted());
});
