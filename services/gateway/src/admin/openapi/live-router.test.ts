import { buildAdminDocument } from '@pixmesh/contracts/openapi/build-admin-document';
import { createLogger } from '@pixmesh/telemetry/logger';
import { expect, test } from 'vitest';

import { registeredRoutes } from '@pixmesh/http/testing/registered-routes';

import { listGuides } from '#guides/guides.route.ts';

import { OPEN_EDGE } from '#test/open-edge.ts';

import { buildAdminApp } from '../../admin-app.ts';

/** What the listener serves beside `/admin`, to whoever reaches it (ADR 0021). */
const BESIDE = [
  'GET /openapi.json',
  'GET /reference',
  'GET /reference/scalar.js',
  ...listGuides('guides').map((file) => `GET /guides/${file}`),
];

/** Only registered, never called: nothing behind the routes is needed. */
function build() {
  return buildAdminApp({
    logger: createLogger('gateway', 'silent'),
    edge: OPEN_EDGE,
    bootstrapToken: 'x',
  } as unknown as Parameters<typeof buildAdminApp>[0]);
}

test('the admin document and the live router know the same routes, both ways', async () => {
  const documented = Object.entries(buildAdminDocument().paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const live = await registeredRoutes(build);
  expect(live.toSorted()).toEqual([...documented, ...BESIDE].toSorted());
});
