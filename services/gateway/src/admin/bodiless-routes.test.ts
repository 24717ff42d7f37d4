import { ADMIN_ROUTES } from '@pixmesh/contracts/admin/admin-routes';
import type { AdminRoute } from '@pixmesh/contracts/admin/admin-route';
import { BODY_BYTES_MAX } from '@pixmesh/http/service-app';
import type { Database } from '@pixmesh/postgres/pool';
import { expect, test } from 'vitest';

import { startTestAdmin } from '#test/start-test-admin.ts';

/** A GET is never read for a body, by the framework itself. */
const BODILESS = Object.values<AdminRoute>(ADMIN_ROUTES).filter(
  ({ body, method }) => body === null && method !== 'GET',
);
const NOT_FOUND = { status: 404, body: { code: 'NOT_FOUND' } };
const HUGE = 'x'.repeat(BODY_BYTES_MAX + 1);

test.each(BODILESS)('$method $path takes no body, however large it is', async (route) => {
  // Ids that are none end before a table is read, and owners know nothing.
  await using admin = await startTestAdmin({ db: {} as Database, answer: NOT_FOUND });
  const url = route.path.replaceAll(/:\w+/g, 'none');
  const headers = ['content-type', 'nonsense', 'content-encoding', 'br'];
  const answer = await admin.call(route.method, url, { body: HUGE, headers });
  expect([answer.status, answer.json]).toMatchObject([404, { code: 'NOT_FOUND' }]);
});

test('the routes that take no body are known', () => {
  expect(BODILESS.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([
    'DELETE /admin/keys/:id',
    'DELETE /admin/operators/:id',
    'POST /admin/charges/:id/cancel',
    'POST /admin/charges/:id/check',
    'POST /admin/dead-letters/:service/:id/replay',
    'POST /admin/deliveries/:id/resend',
    'POST /admin/payouts/:id/approve',
    'POST /admin/payouts/:id/cancel',
    'POST /admin/payouts/:id/check',
    'POST /admin/recoveries/:id/cancel',
    'POST /admin/webhooks/:id/test',
  ]);
});
