import { registeredRoutes } from '@pixmesh/http/testing/registered-routes';
import { createLogger } from '@pixmesh/telemetry/logger';
import { describe, expect, test } from 'vitest';

import { buildSimulatorApp, type SimulatorDeps } from '../app.ts';
import { callOf, type Control, CONTROLS } from './controls.ts';
import { renderPage } from './render-page.ts';
import type { State } from './state.ts';

const STATE: State = {
  clock: { now: '2026-11-21T12:00:00.000Z', offset_seconds: 0 },
  profile: 'manual',
  faults: { seed: 0, rules: [] },
  pix_key: 'pix@example.com',
  balance: 0,
  webhook_url: null,
  charges: [],
  pix: [],
  sends: [],
  disputes: [],
  callbacks: [],
};

const controls = Object.values<Control>(CONTROLS);

/** Only registered, never called: nothing behind the routes is needed. */
function build() {
  const logger = createLogger('acquirer-simulator', 'silent');
  return buildSimulatorApp({ logger, clientSecret: 'x', host: '127.0.0.1' } as SimulatorDeps);
}

describe('the page', () => {
  test('knows every route of the control API, and no others', async () => {
    const routes = (await registeredRoutes(build)).filter((route) => route.includes('/control/'));
    const known = controls.map(
      ({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`,
    );
    expect(known.toSorted()).toEqual(routes.toSorted());
  });

  test.each(controls)('has a button for $method $path, with a field for each id', (control) => {
    const { method, path, fields } = control;
    const [, all = ''] = renderPage(STATE).split('<aside>');
    if (method === 'GET') {
      expect(all).toContain(`<a href="${path}"`);
      return;
    }
    const form = all
      .split('<form')
      .find(
        (one) => one.includes(`data-method="${method}"`) && one.includes(`data-path="${path}"`),
      );
    const ids = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
    const asked = [...(form ?? '').matchAll(/name="(\w+)"\s+data-as="(\w+)"/g)];
    expect(asked.filter(([, , as]) => as === 'path').map(([, name]) => name)).toEqual(ids);
    expect(asked.map(([, name]) => name)).toEqual([...ids, ...fields.map(({ name }) => name)]);
  });
});

test('an id stays within its place of the address', () => {
  expect(callOf(CONTROLS.returnPix, { id: '../a?b' })).toEqual({
    method: 'POST',
    path: '/control/pix/..%2Fa%3Fb/returns',
  });
});
