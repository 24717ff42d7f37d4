import { expect, test } from 'vitest';

import { formatMap } from '../suite/format-map.ts';
import { findEmptySections } from '../suite/summarize.ts';
import { ALL_CASES } from './all-cases.ts';

const CASES_MIN = 250;

const observed = ALL_CASES.filter((one) => one.kind === 'observed');

test('every section of the specification has cases', () => {
  expect(findEmptySections(ALL_CASES)).toEqual([]);
  expect(observed.length).toBeGreaterThanOrEqual(CASES_MIN);
});

test('every section has a case that calls the installation', () => {
  expect(findEmptySections(observed)).toEqual([]);
});

test('no two cases share an id', () => {
  const ids = ALL_CASES.map(({ id }) => id);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

test('most of the suite needs nothing but an address and a key', () => {
  const bare = observed.filter(({ needs }) => needs.length === 0);
  expect(bare.length).toBeGreaterThanOrEqual(CASES_MIN);
});

test('what is not observed says why', () => {
  const stated = ALL_CASES.flatMap((one) => (one.kind === 'observed' ? [] : one));
  expect(stated.filter(({ reason }) => reason.length < 5)).toEqual([]);
});

test('the map names every case once', () => {
  const ids = [...formatMap(ALL_CASES).matchAll(/^\| `([^`]+)` \|/gm)].map(([, id]) => id);
  expect(ids.toSorted()).toEqual(ALL_CASES.map(({ id }) => id).toSorted());
});
