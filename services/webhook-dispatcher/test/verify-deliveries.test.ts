import { describe, expect, test } from 'vitest';

import { verifyDeliveries, PICK_UP_MS_MAX, type RunRecord } from './verify-deliveries.ts';

/** One event for two endpoints; the sender of the first is killed over it, and another sends it again. */
const CLEAN: RunRecord = {
  events: [{ eventId: 'e1', destinationIds: ['a', 'b'], publishedMs: 1_000 }],
  deliveries: [
    {
      id: 'e1a',
      eventId: 'e1',
      destinationId: 'a',
      laneId: 'a',
      status: 'succeeded',
      attempts: ['succeeded'],
    },
    {
      id: 'e1b',
      eventId: 'e1',
      destinationId: 'b',
      laneId: 'b',
      status: 'succeeded',
      attempts: ['failed', 'succeeded'],
    },
  ],
  posts: [
    { deliveryId: 'e1a', sender: 0, begunMs: 1_010, answeredMs: null },
    { deliveryId: 'e1b', sender: 1, begunMs: 1_011, answeredMs: 1_020 },
    { deliveryId: 'e1a', sender: 1, begunMs: 14_000, answeredMs: 14_010 },
    { deliveryId: 'e1b', sender: 1, begunMs: 61_020, answeredMs: 61_030 },
  ],
  deaths: [
    { sender: 0, atMs: 1_050, readyMs: 5_000 },
    { sender: null, atMs: 1_060, readyMs: 5_000 },
  ],
  outages: [],
  counts: [{ sender: 1, fromMs: 0, untilMs: 70_000, repeats: 1 }],
};
const [cutPost, firstPost, repeatedPost, retriedPost] = CLEAN.posts as [
  RunRecord['posts'][number],
  RunRecord['posts'][number],
  RunRecord['posts'][number],
  RunRecord['posts'][number],
];
const [first, second] = CLEAN.deliveries as [
  RunRecord['deliveries'][number],
  RunRecord['deliveries'][number],
];

test('a run in which a kill costs a repeat, and a failure a retry, is clean', () => {
  expect(verifyDeliveries(CLEAN)).toEqual({
    faults: [],
    perDeath: [{ extra: 1, inFlight: 1 }],
    extraPosts: 1,
    pickUpMs: 11,
  });
});

describe('a planted fault is found and named:', () => {
  test.each<[string, Partial<RunRecord>, string[]]>([
    [
      'an event without a row for one of its destinations',
      { deliveries: [first], posts: [cutPost, repeatedPost] },
      ['lost e1'],
    ],
    [
      'a delivery that was not received',
      {
        deliveries: [first, { ...second, status: 'pending', attempts: [] }],
        posts: [cutPost, repeatedPost],
      },
      ['lost e1b'],
    ],
    [
      'a delivery that was received and is still pending',
      { deliveries: [first, { ...second, status: 'pending' }] },
      ['lost e1b'],
    ],
    [
      'two rows of one event and destination',
      {
        deliveries: [...CLEAN.deliveries, { ...first, id: 'e1x' }],
        posts: [...CLEAN.posts, { ...repeatedPost, deliveryId: 'e1x' }],
      },
      ['two_rows e1'],
    ],
    [
      'a row that was not asked for',
      {
        deliveries: [...CLEAN.deliveries, { ...first, id: 'e1c', destinationId: 'c' }],
        posts: [...CLEAN.posts, { ...repeatedPost, deliveryId: 'e1c' }],
      },
      ['not_asked_for e1c'],
    ],
    [
      'a post of a delivery that does not exist',
      { posts: [...CLEAN.posts, { ...firstPost, deliveryId: 'none' }] },
      ['post_of_nothing none'],
    ],
    [
      'a request sent twice, more than the kill explains',
      { posts: [...CLEAN.posts, { ...repeatedPost, begunMs: 14_500, answeredMs: 14_600 }] },
      ['post_without_attempt e1a'],
    ],
    [
      'a repeat by a death of the other sender',
      { deaths: [{ sender: 1, atMs: 1_050, readyMs: 5_000 }] },
      ['post_without_attempt e1a'],
    ],
    [
      'a repeat of what was answered long before the death',
      {
        deaths: [{ sender: 0, atMs: 9_000, readyMs: 9_500 }],
        posts: [{ ...cutPost, answeredMs: 1_020 }, firstPost, repeatedPost, retriedPost],
      },
      ['post_without_attempt e1a'],
    ],
    [
      'a post whose attempt is missing',
      { deliveries: [first, { ...second, attempts: ['succeeded'] }] },
      ['post_without_attempt e1b'],
    ],
    [
      'an attempt that the receiver never saw',
      { deliveries: [first, { ...second, attempts: ['failed', 'failed', 'succeeded'] }] },
      ['attempt_without_post e1b'],
    ],
    [
      'a delivery sent again though its success was recorded',
      { deliveries: [first, { ...second, attempts: ['succeeded', 'succeeded'] }] },
      ['sent_after_success e1b'],
    ],
    [
      'a pick-up later than allowed',
      {
        posts: [
          cutPost,
          { ...firstPost, begunMs: 5_001 + PICK_UP_MS_MAX, answeredMs: 21_000 },
          repeatedPost,
          retriedPost,
        ],
      },
      ['late e1b'],
    ],
    [
      'repeats that were not counted',
      { counts: [{ sender: 1, fromMs: 0, untilMs: 70_000, repeats: 0 }] },
      ['uncounted_repeat sender 1: 1 repeats, 0 counted'],
    ],
  ])('%s', (_what, planted, faults) => {
    const verdict = verifyDeliveries({ ...CLEAN, ...planted });
    expect(verdict.faults.map(({ kind, id }) => `${kind} ${id}`)).toEqual(faults);
  });
});

test('the wait for a pick-up counts from the end of an outage, but not of one that came too late to excuse it', () => {
  const posts = [
    cutPost,
    { ...firstPost, begunMs: 40_000, answeredMs: 40_010 },
    repeatedPost,
    retriedPost,
  ];
  const during = { fromMs: 2_000, toMs: 30_000 };
  expect(verifyDeliveries({ ...CLEAN, posts, outages: [during] })).toMatchObject({
    faults: [],
    pickUpMs: 10_000,
  });
  const after = { fromMs: 25_000, toMs: 30_000 };
  expect(verifyDeliveries({ ...CLEAN, posts, outages: [after] }).faults).toEqual([
    { kind: 'late', id: 'e1b' },
  ]);
});

test('a death may repeat twenty deliveries of a lane, and one more is a fault', () => {
  const runOf = (count: number): RunRecord => {
    const ids = Array.from({ length: count }, (_, index) => `e${index}`);
    return {
      ...CLEAN,
      events: ids.map((eventId) => ({ eventId, destinationIds: ['a'], publishedMs: 1_000 })),
      deliveries: ids.map((eventId) => ({ ...first, id: `${eventId}a`, eventId })),
      posts: ids.flatMap((eventId) =>
        [cutPost, repeatedPost].map((post) => ({ ...post, deliveryId: `${eventId}a` })),
      ),
      counts: [{ sender: 1, fromMs: 0, untilMs: 70_000, repeats: count }],
    };
  };
  expect(verifyDeliveries(runOf(20)).faults).toEqual([]);
  expect(verifyDeliveries(runOf(21)).faults).toEqual([
    { kind: 'too_many_repeats', id: 'sender 0, lane a' },
  ]);
});
