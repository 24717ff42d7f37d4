import type { Break, CheckReport, FullRun } from '@pixmesh/contracts/internal/reconciliation';
import { describe, expect, test } from 'vitest';

import { joinReports } from './join-reports.ts';

const NOW = new Date('2026-11-21T12:00:00.000Z');
const OLD = '2026-11-21T11:00:00.000Z';
const NEW = '2026-11-21T11:59:00.000Z';

function aBreak(id: string): Break {
  return { kind: 'amount', id, expected: '1', found: '2', amount: 1, since: OLD };
}

function part(
  service: string,
  checkedAt: string | null,
  { checks = [], fullRun = null }: { checks?: CheckReport[]; fullRun?: FullRun | null } = {},
) {
  return { service, report: { service, checked_at: checkedAt, checks, full_run: fullRun } };
}

describe('a report of all services', () => {
  test('counts every break, keeps every check, and is as old as its oldest part', () => {
    const hold = { name: 'hold', compared: 3, breaks: [aBreak('a'), aBreak('b')] };
    const sum = { name: 'ledger_sum', compared: 9, breaks: [] };
    expect(
      joinReports(
        [part('ledger', NEW, { checks: [sum] }), part('payouts', OLD, { checks: [hold] })],
        NOW,
      ),
    ).toEqual({
      object: 'reconciliation',
      checked_at: OLD,
      breaks: 2,
      checks: [sum, hold],
      full_runs: [],
    });
  });

  test('has one check where several services make the same', () => {
    const left = { name: 'outbox', compared: 2, breaks: [aBreak('a')] };
    const right = { name: 'outbox', compared: 5, breaks: [aBreak('b')] };
    const { breaks, checks } = joinReports(
      [part('payouts', NEW, { checks: [left] }), part('charges', NEW, { checks: [right] })],
      NOW,
    );
    expect(breaks).toBe(2);
    expect(checks).toEqual([{ name: 'outbox', compared: 7, breaks: [aBreak('a'), aBreak('b')] }]);
  });

  test('shows a part that is missing as a break of its own', () => {
    const joined = joinReports([{ service: 'payouts', report: null }, part('ledger', OLD)], NOW);
    expect(joined).toEqual({
      object: 'reconciliation',
      checked_at: OLD,
      breaks: 1,
      checks: [
        {
          name: 'payouts',
          compared: 0,
          breaks: [
            {
              kind: 'unavailable',
              id: 'payouts',
              expected: 'report',
              found: null,
              amount: null,
              since: NOW.toISOString(),
            },
          ],
        },
      ],
      full_runs: [],
    });
  });

  test('shows the full runs that are requested or under way', () => {
    const waiting = { requested_at: NEW, started_at: null, compared: 0 };
    const underWay = { requested_at: OLD, started_at: NEW, compared: 70 };
    const { full_runs: runs } = joinReports(
      [
        part('ledger', NEW, { fullRun: waiting }),
        part('payouts', NEW),
        part('charges', NEW, { fullRun: underWay }),
      ],
      NOW,
    );
    expect(runs).toEqual([
      { service: 'ledger', ...waiting },
      { service: 'charges', ...underWay },
    ]);
  });

  test('has no time as long as a part has never run, or no part is there', () => {
    expect(joinReports([part('ledger', OLD), part('charges', null)], NOW).checked_at).toBeNull();
    expect(joinReports([{ service: 'ledger', report: null }], NOW).checked_at).toBeNull();
  });
});
