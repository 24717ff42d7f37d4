import { assertNever } from '@pixmesh/kernel/app-error';

import type { CallbackRule } from '#faults/fault-script.ts';

/** One notice to be queued. A held one waits for another to overtake it, at most `delayMs`. */
export type PlannedCallback = { delayMs: number; held: boolean };

const DELAY_MS_DEFAULT = 1_000;
/** How long a reordered notice waits for another before it goes out by itself. */
const HOLD_MS_DEFAULT = 2_000;

/** Turns what the fault script says about each notice into what is queued for it. */
export function planCallbacks(faults: readonly (CallbackRule | null)[]): PlannedCallback[] {
  return faults.flatMap(planCallback);
}

function planCallback(rule: CallbackRule | null): PlannedCallback[] {
  const atOnce = { delayMs: 0, held: false };
  if (rule === null) return [atOnce];
  switch (rule.fault) {
    case 'drop':
      return [];
    case 'duplicate':
      return [atOnce, atOnce];
    case 'delay':
      return [{ delayMs: rule.delay_ms ?? DELAY_MS_DEFAULT, held: false }];
    case 'reorder':
      return [{ delayMs: rule.delay_ms ?? HOLD_MS_DEFAULT, held: true }];
    default:
      return assertNever(rule.fault);
  }
}
