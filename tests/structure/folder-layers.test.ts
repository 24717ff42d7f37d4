import path from 'node:path';

import { expect, test } from 'vitest';

import { describeCycle, findCycles, listArrows, type Source } from './folder-graph.ts';
import { listFiles, readRepositoryFile } from './repository-files.ts';

const sources: Source[] = listFiles('{packages,services}/*/src/**/*.ts').map((file) => ({
  file,
  text: readRepositoryFile(file),
}));
const workspaces = listFiles('{packages,services}/*/package.json').map((f) => path.dirname(f));

test.each(workspaces)('the folders of %s are layers: no imports in a circle', (workspace) => {
  const arrows = listArrows(workspace, sources);
  expect(findCycles(arrows).map((cycle) => describeCycle(cycle, arrows))).toEqual([]);
});

test('the folders of services have arrows to judge', () => {
  expect(listArrows('services/charges', sources).length).toBeGreaterThan(100);
});

const PLANTED: Source[] = [
  { file: 'services/shop/src/orders/place-order.ts', text: "import { a } from '#stock/find.ts';" },
  { file: 'services/shop/src/stock/find.ts', text: "import { b } from '../prices/price.ts';" },
  { file: 'services/shop/src/prices/price.ts', text: "export { c } from '#orders/line.ts';" },
  { file: 'services/shop/src/service.ts', text: "import { d } from '#orders/place-order.ts';" },
];

test('a planted cycle is found and described', () => {
  const arrows = listArrows('services/shop', PLANTED);
  const cycles = findCycles(arrows);
  expect(cycles).toEqual([['orders', 'prices', 'stock']]);
  expect(describeCycle(cycles[0] ?? [], arrows)).toContain(
    'prices -> orders: services/shop/src/prices/price.ts > services/shop/src/orders/line.ts',
  );
});

test('without the arrow that runs back there is none', () => {
  expect(
    findCycles(listArrows('services/shop', PLANTED.slice(0, 2).concat(PLANTED.slice(3)))),
  ).toEqual([]);
});

test('a cycle of folders within a folder is found', () => {
  const arrows = listArrows('services/shop', [
    { file: 'services/shop/src/orders/place/a.ts', text: "import '../cancel/b.ts';" },
    { file: 'services/shop/src/orders/cancel/b.ts', text: "import '../place/a.ts';" },
  ]);
  expect(findCycles(arrows)).toEqual([['orders/cancel', 'orders/place']]);
});

test('a cycle of a folder within a folder and the files beside it is found', () => {
  const arrows = listArrows('services/shop', [
    { file: 'services/shop/src/orders/order.ts', text: "import './place/a.ts';" },
    { file: 'services/shop/src/orders/place/a.ts', text: "import '../order.ts';" },
  ]);
  expect(findCycles(arrows)).toEqual([['orders/.', 'orders/place']]);
});

test('tests may import upwards', () => {
  const arrows = listArrows('services/shop', [
    ...PLANTED.slice(0, 2),
    { file: 'services/shop/src/prices/price.test.ts', text: "import { c } from '#orders/a.ts';" },
  ]);
  expect(findCycles(arrows)).toEqual([]);
});
