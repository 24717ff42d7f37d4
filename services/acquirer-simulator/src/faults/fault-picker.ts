import type {
  AddedScript,
  CallbackRule,
  CallRule,
  FaultScript,
  FaultScripts,
  FaultyOperation,
  SettleRule,
  SettlingOperation,
} from './fault-script.ts';
import { seededDraws } from './seeded-draws.ts';
import { isAbout, type Subject } from './subject.ts';

export type Rule = FaultScript['rules'][number];

/** The rules of one operation all have the form that its script gives them. */
type RuleOf<Operation> = Operation extends FaultyOperation
  ? CallRule
  : Operation extends SettlingOperation
    ? SettleRule
    : CallbackRule;

/** How much later it goes on, and the first other rule that fires. */
export type Picked<Operation> = { latencyMs: number; rule: RuleOf<Operation> | null };

export type FaultPicker = {
  /** What goes wrong with one call or one notice, or becomes of one accepted order or refund. */
  pick<Operation extends Rule['operation']>(
    operation: Operation,
    subject?: Subject,
  ): Picked<Operation>;
  /** Every rule in force, in the order in which they are tried. */
  rules(): Rule[];
  /** The scripts with what remains of their counts. */
  scripts(): FaultScripts;
  /** Puts a script behind the others; these keep their counts and draws. */
  add(script: AddedScript): void;
  /** Takes an added script out. Answers whether there was one. */
  remove(id: string): boolean;
};

/** Added by a `latency` rule that names no delay. */
const LATENCY_MS_DEFAULT = 1_000;

type RuleState = { rule: Rule; remaining: number; draw: () => number };

/** A script in force; the first one has no id. */
type ScriptState = { id: string | null; seed: FaultScript['seed']; rules: RuleState[] };

/**
 * Decides by scripts, in memory and without waiting. Rules are tried in their order; each one with a probability
 * draws from its own stream, so that one rule's traffic does not change another's draws.
 */
export function createFaultPicker(initial: FaultScripts): FaultPicker {
  const { added = [], ...first } = initial;
  const states = [start(first, null), ...added.map((script) => start(script, script.id))];
  return {
    pick,
    rules: () => allRules().map(({ rule }) => rule),
    scripts: () => {
      const [script, ...others] = states.map(remainsOf) as [FaultScript, ...FaultScript[]];
      const named = others.map((one, index) => ({ id: states[index + 1]?.id ?? '', ...one }));
      return named.length === 0 ? script : { ...script, added: named };
    },
    add: (script) => void states.push(start(script, script.id)),
    remove: (id) => {
      const place = states.findIndex((state) => state.id === id);
      if (place === -1) return false;
      states.splice(place, 1);
      return true;
    },
  };

  function allRules(): RuleState[] {
    return states.flatMap(({ rules }) => rules);
  }

  function pick<Operation extends Rule['operation']>(
    operation: Operation,
    subject: Subject = {},
  ): Picked<Operation> {
    const own = allRules().filter(
      ({ rule }) => rule.operation === operation && isAbout(rule.only, subject),
    );
    const latency = own.find(({ rule }) => rule.fault === 'latency');
    const slow = latency !== undefined && fires(latency);
    const other = own.find((state) => state.rule.fault !== 'latency' && fires(state));
    return {
      latencyMs: slow ? (latency.rule.delay_ms ?? LATENCY_MS_DEFAULT) : 0,
      rule: (other?.rule as RuleOf<Operation> | undefined) ?? null,
    };
  }
}

function start(script: FaultScript, id: string | null): ScriptState {
  const rules = script.rules.map((rule, index) => ({
    rule,
    remaining: rule.count ?? Number.POSITIVE_INFINITY,
    draw: seededDraws(script.seed, index),
  }));
  return { id, seed: script.seed, rules };
}

function remainsOf({ seed, rules }: ScriptState): FaultScript {
  return {
    seed,
    rules: rules.map(({ rule, remaining }) =>
      rule.count === undefined ? rule : { ...rule, count: remaining },
    ),
  };
}

/** Draws only while something remains, so that a spent rule leaves its stream alone. */
function fires(state: RuleState): boolean {
  if (state.remaining === 0) return false;
  if (state.rule.probability !== undefined && state.draw() >= state.rule.probability) return false;
  state.remaining -= 1;
  return true;
}
