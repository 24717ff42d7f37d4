import { expect, test } from 'vitest';

import { renderTargets } from './start-observers.ts';

test('each process of the mesh is a target under the name of its service', () => {
  const urls = {
    charges: 'http://127.0.0.1:1001',
    'charges-2': 'http://127.0.0.1:1002',
    'acquirer-simulator': 'http://127.0.0.1:1003',
  };
  expect(JSON.parse(renderTargets(urls))).toEqual([
    { targets: ['127.0.0.1:1001'], labels: { service: 'charges', process: 'charges' } },
    { targets: ['127.0.0.1:1002'], labels: { service: 'charges', process: 'charges-2' } },
  ]);
});
