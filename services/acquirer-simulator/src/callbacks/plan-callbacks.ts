import { assertNever } from '@pixmesh/kernel/app-error';

import type { CallbackRule } from '#faults/fault-script.ts';

/**
 * One notice to be queued. A held one waits for another to overtake it, at most `delayMs`; one that a fault was
 * drawn for goes out alone.
 */
export type PlannedCallback = { delayMs: number; held: boolean; alone: boolean };

/** A planned notice with what it says. */
export type Notice = PlannedCallback & { body: string };

/** Pix that nothing goes wrong with share notices of up to this many. */
export const NOTICE_ITEMS_MAX = 10;
const DELAY_MS_DEFAULT = 1_000;
/** How long a reordered notice waits for another before it goes out by itself. */
const HOLD_MS_DEFAULT = 2_000;

/** Turns what the fault script says about each notice into what is queued for it. */
export function planCallbacks(faults: readonly (CallbackRule | null)[]): PlannedCallback[] {
  return faults.flatMap(planCallback);
}

/**
 * The notices of several Pix that became known together, as API Pix groups them. A Pix that the script speaks
 * of has a notice of its own, so that one fault disturbs one Pix.
 */
export function planNotices(
  items: readonly object[],
  faults: readonly (CallbackRule | null)[],
): Notice[] {
  const undisturbed = items.filter((_, index) => (faults[index] ?? null) === null);
  const groups: Notice[] = [];
  for (let from = 0; from < undisturbed.length; from += NOTICE_ITEMS_MAX) {
    const body = toCallbackBody(undisturbed.slice(from, from + NOTICE_ITEMS_MAX));
    groups.push({ body, delayMs: 0, held: false, alone: false });
  }
  const alone = items.flatMap((item, index) => {
    const rule = faults[index] ?? null;
    if (rule === null) return [];
    return planCallback(rule).map((planned) => ({ ...planned, body: toCallbackBody([item]) }));
  });
  return [...groups, ...alone];
}

export function toCallbackBody(items: readonly object[]): string {
  return JSON.stringify({ pix: items });
}

function planCallback(rule: CallbackRule | null): PlannedCallback[] {
  if (rule === null) return [{ delayMs: 0, held: false, alone: false }];
  const atOnce = { delayMs: 0, held: false, alone: true };
  switch (rule.fault) {
    case 'drop':
      return [];
    case 'duplicate':
      return [atOnce, atOnce];
    case 'delay':
      return [{ ...atOnce, delayMs: rule.delay_ms ?? DELAY_MS_DEFAULT }];
    case 'reorder':
      return [{ ...atOnce, delayMs: rule.delay_ms ?? HOLD_MS_DEFAULT, held: true }];
    default:
      return assertNever(rule.fault);
  }
}
