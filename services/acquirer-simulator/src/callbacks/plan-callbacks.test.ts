import { describe, expect, it } from 'vitest';

import { NOTICE_ITEMS_MAX, planCallbacks, planNotices } from './plan-callbacks.ts';

const atOnce = { delayMs: 0, held: false, alone: false };
const byFault = { ...atOnce, alone: true };

describe('the notices of a payment', () => {
  it('go out at once where nothing goes wrong', () => {
    expect(planCallbacks([null, null])).toEqual([atOnce, atOnce]);
  });

  it('are dropped, doubled, delayed and held as the script says', () => {
    const operation = 'callback';
    expect(planCallbacks([{ operation, fault: 'drop' }, null])).toEqual([atOnce]);
    expect(planCallbacks([{ operation, fault: 'duplicate' }])).toEqual([byFault, byFault]);
    expect(planCallbacks([{ operation, fault: 'delay', delay_ms: 70 }])).toEqual([
      { delayMs: 70, held: false, alone: true },
    ]);
    expect(planCallbacks([{ operation, fault: 'reorder', delay_ms: 90 }])).toEqual([
      { delayMs: 90, held: true, alone: true },
    ]);
  });
});

describe('the notices of several Pix', () => {
  const operation = 'callback';
  const items = ['a', 'b', 'c'].map((endToEndId) => ({ endToEndId }));

  function idsOf(notices: readonly { body: string }[]): string[] {
    return notices.map(({ body }) => {
      const { pix } = JSON.parse(body) as { pix: { endToEndId: string }[] };
      return pix.map(({ endToEndId }) => endToEndId).join('');
    });
  }

  it('are one where nothing goes wrong', () => {
    const notices = planNotices(items, [null, null, null]);
    expect(idsOf(notices)).toEqual(['abc']);
    expect(notices).toMatchObject([atOnce]);
  });

  it('hold a bounded number of Pix each, and every Pix once', () => {
    const many = Array.from({ length: 2 * NOTICE_ITEMS_MAX + 1 }, (_, index) => ({
      endToEndId: `${index},`,
    }));
    const notices = planNotices(
      many,
      many.map(() => null),
    );
    expect(notices).toHaveLength(3);
    expect(idsOf(notices).join('')).toBe(many.map(({ endToEndId }) => endToEndId).join(''));
  });

  it('keep a fault to the Pix that it was drawn for', () => {
    const drop = { operation, fault: 'drop' } as const;
    const duplicate = { operation, fault: 'duplicate' } as const;
    const delay = { operation, fault: 'delay', delay_ms: 70 } as const;
    expect(idsOf(planNotices(items, [null, drop, null]))).toEqual(['ac']);
    expect(idsOf(planNotices(items, [duplicate, null, null]))).toEqual(['bc', 'a', 'a']);
    const delayed = planNotices(items, [delay, delay, null]);
    expect(idsOf(delayed)).toEqual(['c', 'a', 'b']);
    expect(delayed.map(({ delayMs }) => delayMs)).toEqual([0, 70, 70]);
  });

  it('are none where every one is dropped, or where there is no Pix', () => {
    const drop = { operation, fault: 'drop' } as const;
    expect(planNotices(items, [drop, drop, drop])).toEqual([]);
    expect(planNotices([], [])).toEqual([]);
  });
});
