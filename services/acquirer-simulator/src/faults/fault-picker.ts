import type {
  CallbackRule,
  CallRule,
  FaultScript,
  FaultyOperation,
  SettleRule,
  SettlingOperation,
} from './fault-script.ts';
import { seededDraws } from './seeded-draws.ts';

export type FaultPicker = {
  /** What goes wrong with one call: how long its answer waits, and the first other rule that fires. */
  pickCall(operation: FaultyOperation): { latencyMs: number; rule: CallRule | null };
  /** What becomes of one accepted order or refund: how much later it ends, and the first other rule that fires. */
  pickSettlement(operation: SettlingOperation): { latencyMs: number; rule: SettleRule | null };
  /** What goes wrong with one notice. */
  pickCallback(): CallbackRule | null;
  /** The script with what remains of its counts. */
  script(): FaultScript;
};

/** Added by a `latency` rule that names no delay. */
const LATENCY_MS_DEFAULT = 1_000;

/**
 * Decides by a script, in memory and without waiting. Rules are tried in their order; each one with a
 * probability draws from its own stream, so that one rule's traffic does not change another's draws.
 */
export function createFaultPicker(script: FaultScript): FaultPicker {
  const rules = script.rules.map((rule, index) => ({
    rule,
    remaining: rule.count ?? Number.POSITIVE_INFINITY,
    draw: seededDraws(script.seed, index),
  }));
  return {
    pickCall: (operation) => pick<CallRule>(operation),
    pickSettlement: (operation) => pick<SettleRule>(operation),
    pickCallback: () => {
      const fired = rules.find((state) => state.rule.operation === 'callback' && fires(state));
      return (fired?.rule as CallbackRule | undefined) ?? null;
    },
    script: () => ({
      seed: script.seed,
      rules: rules.map(({ rule, remaining }) =>
        rule.count === undefined ? rule : { ...rule, count: remaining },
      ),
    }),
  };

  /** The rules of one operation all have the form that its script gives them. */
  function pick<Rule extends CallRule | SettleRule>(
    operation: Rule['operation'],
  ): { latencyMs: number; rule: Rule | null } {
    const own = rules.filter(({ rule }) => rule.operation === operation);
    const latency = own.find(({ rule }) => rule.fault === 'latency');
    const slow = latency !== undefined && fires(latency);
    const other = own.find((state) => state.rule.fault !== 'latency' && fires(state));
    return {
      latencyMs: slow ? (latency.rule.delay_ms ?? LATENCY_MS_DEFAULT) : 0,
      rule: (other?.rule as Rule | undefined) ?? null,
    };
  }
}

/** Draws only while something remains, so that a spent rule leaves its stream alone. */
function fires(state: {
  rule: { probability?: number | undefined };
  remaining: number;
  draw: () => number;
}): boolean {
  if (state.remaining === 0) return false;
  if (state.rule.probability !== undefined && state.draw() >= state.rule.probability) return false;
  state.remaining -= 1;
  return true;
}
