import { newId } from '@pixmesh/kernel/ids';
import type { PastEvent } from '@pixmesh/postgres/event-history';
import { expect, test } from 'vitest';

import type { ChargeMove } from './charge-steps.sql.ts';
import { type ChargeSteps, toTimelineEntries } from './to-timeline-entries.ts';

const CHARGE = newId();
const DISPUTE = newId<ChargeSteps['disputes'][number]['id']>();
const NOON_MS = Date.parse('2026-11-21T12:00:00.000Z');

test('an event that was made moments before its own move is shown at its move, no other', () => {
  const steps = aLife({
    moves: [
      aMove(1_000, { from_status: 'pending', to_status: 'paid', cause: 'pix_credited' }),
      aMove(5_000, { from_status: 'paid', to_status: 'infraction', detail: DISPUTE }),
      aMove(9_000, { from_status: 'infraction', to_status: 'paid', detail: DISPUTE }),
    ],
    events: [
      anEvent(998, { resourceId: CHARGE, status: 'paid' }),
      anEvent(4_990, { resourceId: CHARGE, status: 'infraction' }),
      anEvent(4_991, { resourceId: DISPUTE, status: 'open' }),
      anEvent(9_004, { resourceId: DISPUTE, status: 'won' }),
    ],
  });
  expect(msOf(steps, 'event')).toEqual([1_000, 5_000, 5_000, 9_004]);
});

test('an event without a move of its own keeps its time', () => {
  const steps = aLife({
    moves: [aMove(120_000, { from_status: 'pending', to_status: 'paid' })],
    events: [
      anEvent(1, { resourceId: CHARGE, status: 'paid' }),
      anEvent(2, { resourceId: null, status: null }),
    ],
  });
  expect(msOf(steps, 'event')).toEqual([1, 2]);
});

test('texts of the acquirer are not shown, ids are', () => {
  const steps = aLife({
    moves: [
      aMove(1, { cause: 'issuing_failed', detail: 'chave 52998224725 recusada' }),
      aMove(2, { cause: 'pix_accepted', detail: 'E123' }),
    ],
  });
  const details = toTimelineEntries(steps).map((entry) => entry.details['detail']);
  expect(details).toEqual([null, 'E123']);
});

test('a refund and a resolution that have not ended are shown by their beginning alone', () => {
  const at = new Date(NOON_MS);
  const own = { id: newId(), amount: 5n, status: 'processing' as const, created_at: at };
  const steps = aLife({
    refunds: [{ ...own, id: newId(), hold_id: newId(), ended_at: null }],
    resolutions: [{ ...own, action: 'return', completed_at: null }],
  });
  const whats = toTimelineEntries(steps).map(({ what }) => what);
  expect(whats).toEqual(['refund requested', 'suspense: return decided']);
});

function aLife(changes: Partial<ChargeSteps>): ChargeSteps {
  return {
    chargeId: CHARGE,
    moves: [],
    events: [],
    refunds: [],
    disputes: [{ id: DISPUTE, amount: 10n }],
    resolutions: [],
    ...changes,
  };
}

function aMove(ms: number, changes: Partial<ChargeMove>): ChargeMove {
  const at = new Date(NOON_MS + ms);
  const move = { version: ms, at, from_status: null, to_status: 'paid', detail: null } as const;
  return { ...move, cause: 'created', ...changes };
}

function anEvent(ms: number, changes: Partial<PastEvent>): PastEvent {
  const at = new Date(NOON_MS + ms);
  return {
    id: newId(),
    type: 'an.event',
    sequence: 1,
    at,
    resourceId: null,
    status: null,
    ...changes,
  };
}

function msOf(steps: ChargeSteps, kind: string): number[] {
  const entries = toTimelineEntries(steps).filter((entry) => entry.kind === kind);
  return entries.map(({ at }) => Date.parse(at) - NOON_MS);
}
