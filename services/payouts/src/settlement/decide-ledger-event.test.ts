import { expect, test } from 'vitest';

import type { VisiblePayout } from '#payouts/payout-row.ts';
import { aSentPayout } from '#test/a-sent-payout.ts';

import { decideLedgerEvent, type HoldEvent } from './decide-ledger-event.ts';

const HISTORIES = {
  'waiting for approval': { status: 'pending' },
  'without an ordered end': {},
  'with its settlement ordered': { ending: 'settle' },
  'with its release ordered': { ending: 'release', endingReason: 'AC03: no' },
  completed: { status: 'completed' },
  failed: { status: 'failed', failureReason: 'AC03: no' },
  canceled: { status: 'canceled' },
  'with its settlement ordered, contradicted before': {
    ending: 'settle',
    contradiction: 'completed_after_failed',
  },
  'with its release ordered, contradicted before': {
    ending: 'release',
    endingReason: 'AC03: no',
    contradiction: 'failed_after_completed',
  },
} as const satisfies Record<string, Partial<VisiblePayout>>;

const EVENTS = {
  settled: { kind: 'settled' },
  released: { kind: 'released' },
  'settlement refused, it was released': {
    kind: 'end_refused',
    wanted: 'settled',
    state: 'released',
  },
  'settlement refused, it was voided': { kind: 'end_refused', wanted: 'settled', state: 'voided' },
  'release refused, it was settled': { kind: 'end_refused', wanted: 'released', state: 'settled' },
  'release refused, it was voided': { kind: 'end_refused', wanted: 'released', state: 'voided' },
} as const satisfies Record<string, HoldEvent>;

const out = 'completed_after_failed';
const back = 'failed_after_completed';

/** One row a history; columns as in EVENTS. */
const TABLE: Record<keyof typeof HISTORIES, readonly string[]> = {
  'waiting for approval': ['impossible', 'impossible', out, out, back, 'impossible'],
  'without an ordered end': ['impossible', 'impossible', out, out, back, 'impossible'],
  'with its settlement ordered': ['complete', 'impossible', out, out, back, 'impossible'],
  'with its release ordered': ['impossible', 'fail', out, out, back, 'fail'],
  completed: ['done', 'impossible', out, out, back, 'impossible'],
  failed: ['impossible', 'done', out, out, back, 'done'],
  canceled: ['impossible', 'done', out, out, back, 'done'],
  'with its settlement ordered, contradicted before': [
    'complete',
    'impossible',
    'done',
    'done',
    'done',
    'impossible',
  ],
  'with its release ordered, contradicted before': [
    'impossible',
    'fail',
    'done',
    'done',
    'done',
    'fail',
  ],
};

const cells = Object.entries(TABLE).flatMap(([history, row]) =>
  Object.entries(EVENTS).map(([said, event], index) => ({
    history,
    said,
    event,
    step: row[index],
  })),
);

test.each(cells)('a payout $history, hold $said → $step', ({ history, event, step }) => {
  const payout = aSentPayout(HISTORIES[history as keyof typeof HISTORIES]);
  const decided = decideLedgerEvent(payout, event);
  expect(decided.kind === 'contradict' ? decided.contradiction : decided.kind).toBe(step);
});
