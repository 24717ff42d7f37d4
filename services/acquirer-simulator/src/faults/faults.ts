import type { Queryable } from '@pixmesh/postgres/pool';

import { loadSetting } from '#settings/stored-setting.ts';

import { createFaultPicker, type FaultPicker } from './fault-picker.ts';
import {
  FaultScript,
  type FaultyOperation,
  NO_FAULTS,
  type SettlingOperation,
} from './fault-script.ts';

/** The fault script in force. Counts that a fault has used up stay used up across a restart. */
export type Faults = {
  pickCall(operation: FaultyOperation): Promise<ReturnType<FaultPicker['pickCall']>>;
  /** Whether no rule of the script speaks of this settling. */
  settlesAsUsual(operation: SettlingOperation): boolean;
  pickSettlement(operation: SettlingOperation): Promise<ReturnType<FaultPicker['pickSettlement']>>;
  pickCallbacks(notices: number): Promise<ReturnType<FaultPicker['pickCallback']>[]>;
  script(): FaultScript;
  replace(script: FaultScript): Promise<void>;
};

const SETTING_NAME = 'faults';

export async function loadFaults(db: Queryable): Promise<Faults> {
  const stored = await loadSetting(db, SETTING_NAME, { schema: FaultScript, initial: NO_FAULTS });
  let picker = createFaultPicker(stored.get());
  return {
    pickCall: async (operation) => {
      if (stored.get().rules.length === 0) return { latencyMs: 0, rule: null };
      return await keepCounts(() => picker.pickCall(operation));
    },
    settlesAsUsual,
    pickSettlement: async (operation) => {
      if (settlesAsUsual(operation)) return { latencyMs: 0, rule: null };
      return await keepCounts(() => picker.pickSettlement(operation));
    },
    pickCallbacks: async (notices) => {
      const pick = (): ReturnType<FaultPicker['pickCallback']> => picker.pickCallback();
      if (stored.get().rules.length === 0) return Array.from({ length: notices }, () => null);
      return await keepCounts(() => Array.from({ length: notices }, pick));
    },
    script: () => picker.script(),
    replace: async (script) => {
      picker = createFaultPicker(script);
      await stored.set(script);
    },
  };

  function settlesAsUsual(settling: SettlingOperation): boolean {
    return stored.get().rules.every(({ operation }) => operation !== settling);
  }

  async function keepCounts<T>(pick: () => T): Promise<T> {
    const before = countsOf(picker.script());
    const picked = pick();
    const script = picker.script();
    if (countsOf(script) !== before) await stored.set(script);
    return picked;
  }
}

function countsOf(script: FaultScript): string {
  return script.rules.map(({ count }) => count ?? '').join(',');
}
