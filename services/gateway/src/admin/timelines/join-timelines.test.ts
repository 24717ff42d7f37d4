import type { TimelineEntry } from '@pixmesh/contracts/internal/timeline';
import { newId } from '@pixmesh/kernel/ids';
import { expect, test } from 'vitest';

import { joinTimelines } from './join-timelines.ts';

const RESOURCE = newId();

test('steps of all services stand in the order of their times', () => {
  const timeline = joinTimelines(RESOURCE, [
    { entries: [anEntry('state', 1, 'made'), anEntry('state', 5, 'paid')], truncated: false },
    { entries: [anEntry('journal', 4, 'credit')], truncated: false },
    { entries: [anEntry('attempt', 9, 'POST 200')], truncated: false },
  ]);
  expect(timeline.entries.map(({ what }) => what)).toEqual(['made', 'credit', 'paid', 'POST 200']);
  expect(timeline).toMatchObject({ object: 'timeline', resource_id: RESOURCE, truncated: false });
});

test('within a millisecond money comes before the state, its event, the delivery and the attempt', () => {
  const kinds = ['attempt', 'delivery', 'event', 'state', 'journal'] as const;
  const parts = kinds.map((kind) => ({ entries: [anEntry(kind, 7, kind)], truncated: false }));
  const { entries } = joinTimelines(RESOURCE, parts);
  expect(entries.map(({ kind }) => kind)).toEqual(kinds.toReversed());
});

test('what a service told in its own order stays in that order', () => {
  const ordered = ['first', 'second', 'third'].map((what) => anEntry('state', 3, what));
  const { entries } = joinTimelines(RESOURCE, [{ entries: ordered, truncated: false }]);
  expect(entries).toEqual(ordered);
});

test('one part that was cut makes the whole say so', () => {
  const parts = [
    { entries: [], truncated: false },
    { entries: [], truncated: true },
  ];
  expect(joinTimelines(RESOURCE, parts).truncated).toBe(true);
});

function anEntry(kind: TimelineEntry['kind'], second: number, what: string): TimelineEntry {
  const at = `2026-11-21T12:00:0${second}.000Z`;
  return { at, kind, service: 'charges', id: what, resource_id: RESOURCE, what, details: {} };
}
