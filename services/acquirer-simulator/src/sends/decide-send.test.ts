import { describe, expect, it } from 'vitest';

import { isDenied, planSend, rejectionOf, SETTLE_DELAY_MS } from './decide-send.ts';

const undisturbed = { latencyMs: 0, rule: null };
const rejected = { codigo: 'AC03', origem: expect.any(String), motivo: expect.any(String) };

function faulty(fault: 'latency' | 'refusal' | 'hang', more: object = {}) {
  return { latencyMs: 0, rule: { operation: 'settlePayout' as const, fault, ...more } };
}

describe('the plan of an order', () => {
  it.each([1n, 400n, 500n, 1_500n, 5_000n, 999_999_999_999n])(
    'of the profile manual is to settle, whatever the amount (%s cents)',
    (amountCents) => {
      expect(isDenied('manual', amountCents)).toBe(false);
      expect(planSend('manual', amountCents, undisturbed)).toEqual({
        settlesInMs: SETTLE_DELAY_MS,
        error: null,
        returns: [],
      });
    },
  );

  it.each([
    [1n, null, []],
    [399n, null, []],
    [400n, null, [200n, 200n]],
    [401n, null, []],
    [500n, null, [500n]],
    [1_000n, null, []],
    [1_001n, rejected, []],
    [2_000n, rejected, []],
  ])('of the profile efi follows the amount: %s cents', (amountCents, error, returns) => {
    expect(isDenied('efi', amountCents)).toBe(false);
    expect(planSend('efi', amountCents, undisturbed)).toEqual({
      settlesInMs: SETTLE_DELAY_MS,
      error,
      returns,
    });
  });

  it('of the profile efi is refused at once above twenty reais', () => {
    expect(isDenied('efi', 2_000n)).toBe(false);
    expect(isDenied('efi', 2_001n)).toBe(true);
  });

  it('is to be rejected where the script says so, with its words and without returns', () => {
    expect(planSend('manual', 900n, faulty('refusal'))).toMatchObject({ error: rejected });
    const worded = faulty('refusal', { code: 'AB03', message: 'x', delay_ms: 70 });
    expect(planSend('efi', 500n, worded)).toEqual({
      settlesInMs: SETTLE_DELAY_MS + 70,
      error: { ...rejected, codigo: 'AB03', motivo: 'x' },
      returns: [],
    });
  });

  it('waits as long as the script says, or for ever', () => {
    const slow = { latencyMs: 300, rule: null };
    expect(planSend('manual', 900n, slow).settlesInMs).toBe(SETTLE_DELAY_MS + 300);
    const plan = planSend('efi', 1_500n, faulty('hang'));
    expect(plan).toMatchObject({ settlesInMs: null, error: rejected });
  });
});

describe('a rejection', () => {
  it('never has a code without a text that belongs to it', () => {
    expect(rejectionOf({})).toEqual(rejected);
    expect(rejectionOf({ code: 'AM04' })).toMatchObject({ codigo: 'AM04', motivo: 'AM04' });
    expect(rejectionOf({ message: 'x' })).toMatchObject({ codigo: 'AC03', motivo: 'x' });
  });
});
