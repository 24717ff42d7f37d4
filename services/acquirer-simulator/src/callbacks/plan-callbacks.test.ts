import { describe, expect, it } from 'vitest';

import { planCallbacks } from './plan-callbacks.ts';

const atOnce = { delayMs: 0, held: false };

describe('the notices of a payment', () => {
  it('go out at once where nothing goes wrong', () => {
    expect(planCallbacks([null, null])).toEqual([atOnce, atOnce]);
  });

  it('are dropped, doubled, delayed and held as the script says', () => {
    const operation = 'callback';
    expect(planCallbacks([{ operation, fault: 'drop' }, null])).toEqual([atOnce]);
    expect(planCallbacks([{ operation, fault: 'duplicate' }])).toEqual([atOnce, atOnce]);
    expect(planCallbacks([{ operation, fault: 'delay', delay_ms: 70 }])).toEqual([
      { delayMs: 70, held: false },
    ]);
    expect(planCallbacks([{ operation, fault: 'reorder', delay_ms: 90 }])).toEqual([
      { delayMs: 90, held: true },
    ]);
  });
});
