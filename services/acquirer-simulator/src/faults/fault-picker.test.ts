import { describe, expect, it } from 'vitest';

import { createFaultPicker } from './fault-picker.ts';
import { FaultScript } from './fault-script.ts';

function aPicker(...rules: object[]) {
  return createFaultPicker(FaultScript.parse({ seed: 7, rules }));
}

describe('the fault script', () => {
  it('leaves every operation alone that it does not name', () => {
    const picker = aPicker({ operation: 'issueCharge', fault: 'hang' });
    expect(picker.pick('getCharge')).toEqual({ latencyMs: 0, rule: null });
    expect(picker.pick('callback').rule).toBeNull();
  });

  it('fires a counted rule as often as it says, then the next one', () => {
    const picker = aPicker(
      { operation: 'issueCharge', fault: 'reset', count: 2 },
      { operation: 'issueCharge', fault: 'garbage' },
    );
    const fired = [1, 2, 3, 4].map(() => picker.pick('issueCharge').rule?.fault);
    expect(fired).toEqual(['reset', 'reset', 'garbage', 'garbage']);
    expect(picker.scripts().rules).toEqual([
      { operation: 'issueCharge', fault: 'reset', count: 0 },
      { operation: 'issueCharge', fault: 'garbage' },
    ]);
  });

  it('adds latency to whatever else goes wrong', () => {
    const picker = aPicker(
      { operation: 'issueCharge', fault: 'error_after' },
      { operation: 'issueCharge', fault: 'latency', delay_ms: 30, count: 1 },
    );
    expect(picker.pick('issueCharge')).toMatchObject({
      latencyMs: 30,
      rule: { fault: 'error_after' },
    });
    expect(picker.pick('issueCharge').latencyMs).toBe(0);
  });

  it('draws the same for the same seed, and about as often as the probability says', () => {
    const rule = { operation: 'callback', fault: 'drop', probability: 0.3 };
    const draw = (picker: ReturnType<typeof aPicker>): boolean[] =>
      Array.from({ length: 1_000 }, () => picker.pick('callback').rule !== null);
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
    const expected = Array.from({ length: 50 }, () => alone.pick('callback').rule);
    const drawn = expected.map(() => {
      busy.pick('getCharge');
      return busy.pick('callback').rule;
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

describe('what becomes of an accepted order', () => {
  const rule = { operation: 'settlePayout' } as const;

  it('is decided by its own rules alone', () => {
    const picker = createFaultPicker({
      seed: 1,
      rules: [
        { operation: 'sendPayout', fault: 'refusal' },
        { ...rule, fault: 'hang', count: 1 },
      ],
    });
    expect(picker.pick('settlePayout')).toMatchObject({
      latencyMs: 0,
      rule: { fault: 'hang' },
    });
    expect(picker.pick('settlePayout')).toEqual({ latencyMs: 0, rule: null });
    expect(picker.pick('sendPayout')).toMatchObject({ rule: { fault: 'refusal' } });
  });

  it('may come later and be a rejection', () => {
    const picker = createFaultPicker({
      seed: 1,
      rules: [
        { ...rule, fault: 'latency', delay_ms: 70 },
        { ...rule, fault: 'refusal', code: 'AB03' },
      ],
    });
    expect(picker.pick('settlePayout')).toMatchObject({
      latencyMs: 70,
      rule: { code: 'AB03' },
    });
  });

  it('repeats for the same seed', () => {
    const script = { seed: 'x', rules: [{ ...rule, fault: 'refusal', probability: 0.5 } as const] };
    const draw = () => {
      const picker = createFaultPicker(script);
      return Array.from({ length: 30 }, () => picker.pick('settlePayout').rule === null);
    };
    expect(draw()).toEqual(draw());
    expect(new Set(draw())).toEqual(new Set([true, false]));
  });
});

describe('a filter', () => {
  const hang = { operation: 'getCharge', fault: 'hang' } as const;

  it('keeps a rule from everybody else, and its count for whom it is about', () => {
    const picker = aPicker({ ...hang, count: 1, only: { debtor: 'Ana' } });
    expect(picker.pick('getCharge').rule).toBeNull();
    expect(picker.pick('getCharge', { debtor: 'Rui', txid: 'a' }).rule).toBeNull();
    expect(picker.pick('getCharge', { debtor: 'Ana', txid: 'b' }).rule?.fault).toBe('hang');
    expect(picker.pick('getCharge', { debtor: 'Ana', txid: 'b' }).rule).toBeNull();
  });

  it('of several names holds where all of them fit', () => {
    const picker = aPicker({
      operation: 'callback',
      fault: 'drop',
      only: { txid: 'a', debtor: 'Ana' },
    });
    expect(picker.pick('callback', { txid: 'a', debtor: 'Rui' }).rule).toBeNull();
    expect(picker.pick('callback', { txid: 'a', debtor: 'Ana' }).rule?.fault).toBe('drop');
  });

  it.each([
    [{ ...hang, only: {} }],
    [{ ...hang, only: { id_envio: 'a' } }],
    [{ operation: 'sendPayout', fault: 'hang', only: { txid: 'a' } }],
    [{ operation: 'settlePayout', fault: 'hang', only: { debtor: 'Ana' } }],
    [{ operation: 'listReceived', fault: 'hang', only: { txid: 'a' } }],
    [{ operation: 'balance', fault: 'hang', only: { pix_key: 'a' } }],
    [{ operation: 'callback', fault: 'drop', only: { account: 'a' } }],
  ])('that nobody could fit is refused: %j', (one) => {
    expect(FaultScript.safeParse({ rules: [one] }).success).toBe(false);
  });
});

describe('an added script', () => {
  const added = (id: string, rule: object) => ({
    id,
    ...FaultScript.parse({ seed: 3, rules: [rule] }),
  });
  const reset = { operation: 'getCharge', fault: 'reset' };

  it('stands behind the first one, and goes alone', () => {
    const picker = aPicker({ operation: 'getCharge', fault: 'hang', count: 1 });
    picker.add(added('one', reset));
    picker.add(added('two', { ...reset, fault: 'garbage' }));
    const next = () => picker.pick('getCharge').rule?.fault;
    expect([next(), next()]).toEqual(['hang', 'reset']);
    expect(picker.remove('one')).toBe(true);
    expect(picker.remove('one')).toBe(false);
    expect(next()).toBe('garbage');
    expect(picker.scripts().added?.map(({ id }) => id)).toEqual(['two']);
    picker.remove('two');
    expect(picker.scripts()).not.toHaveProperty('added');
  });

  it('leaves counts and draws of the others as they were', () => {
    const drop = { operation: 'callback', fault: 'drop', probability: 0.5, count: 20 };
    const draw = (picker: ReturnType<typeof aPicker>, times: number) =>
      Array.from({ length: times }, () => picker.pick('callback').rule?.fault);
    const expected = draw(aPicker(drop), 40);
    const picker = aPicker(drop);
    const before = draw(picker, 10);
    picker.add(added('one', reset));
    const between = draw(picker, 10);
    picker.remove('one');
    expect([...before, ...between, ...draw(picker, 20)]).toEqual(expected);
  });
});
