import { describe, expect, it } from 'vitest';

import { createFaultPicker } from './fault-picker.ts';
import { FaultScript } from './fault-script.ts';

function aPicker(...rules: object[]) {
  return createFaultPicker(FaultScript.parse({ seed: 7, rules }));
}

describe('the fault script', () => {
  it('leaves every operation alone that it does not name', () => {
    const picker = aPicker({ operation: 'issueCharge', fault: 'hang' });
    expect(picker.pickCall('getCharge')).toEqual({ latencyMs: 0, rule: null });
    expect(picker.pickCallback()).toBeNull();
  });

  it('fires a counted rule as often as it says, then the next one', () => {
    const picker = aPicker(
      { operation: 'issueCharge', fault: 'reset', count: 2 },
      { operation: 'issueCharge', fault: 'garbage' },
    );
    const fired = [1, 2, 3, 4].map(() => picker.pickCall('issueCharge').rule?.fault);
    expect(fired).toEqual(['reset', 'reset', 'garbage', 'garbage']);
    expect(picker.script().rules).toEqual([
      { operation: 'issueCharge', fault: 'reset', count: 0 },
      { operation: 'issueCharge', fault: 'garbage' },
    ]);
  });

  it('adds latency to whatever else goes wrong', () => {
    const picker = aPicker(
      { operation: 'issueCharge', fault: 'error_after' },
      { operation: 'issueCharge', fault: 'latency', delay_ms: 30, count: 1 },
    );
    expect(picker.pickCall('issueCharge')).toMatchObject({
      latencyMs: 30,
      rule: { fault: 'error_after' },
    });
    expect(picker.pickCall('issueCharge').latencyMs).toBe(0);
  });

  it('draws the same for the same seed, and about as often as the probability says', () => {
    const rule = { operation: 'callback', fault: 'drop', probability: 0.3 };
    const draw = (picker: ReturnType<typeof aPicker>): boolean[] =>
      Array.from({ length: 1_000 }, () => picker.pickCallback() !== null);
    const drawn = draw(aPicker(rule));
    expect(draw(aPicker(rule))).toEqual(drawn);
    const dropped = drawn.filter(Boolean).length;
    expect(dropped).toBeGreaterThan(230);
    expect(dropped).toBeLessThan(370);
  });

  it('gives each rule draws of its own', () => {
    const drop = { operation: 'callback', fault: 'drop', probability: 0.5 };
    const alone = aPicker(drop);
    const busy = aPicker(drop, { operation: 'getCharge', fault: 'reset', probability: 0.5 });
    const expected = Array.from({ length: 50 }, () => alone.pickCallback());
    const drawn = expected.map(() => {
      busy.pickCall('getCharge');
      return busy.pickCallback();
    });
    expect(drawn).toEqual(expected);
  });

  it.each([
    ['an unknown operation', { operation: 'issueCharges', fault: 'hang' }],
    ['an unknown fault', { operation: 'issueCharge', fault: 'explode' }],
    ['a fault of calls for a notice', { operation: 'callback', fault: 'hang' }],
    ['a fault of notices for a call', { operation: 'issueCharge', fault: 'drop' }],
    ['a misspelt setting', { operation: 'issueCharge', fault: 'latency', delayMs: 5 }],
    ['a probability above one', { operation: 'issueCharge', fault: 'hang', probability: 2 }],
  ])('refuses %s', (_, rule) => {
    expect(FaultScript.safeParse({ rules: [rule] }).success).toBe(false);
  });
});
