import { randomUUID } from 'node:crypto';

import type { Queryable } from '@pixmesh/postgres/pool';

import { conflict } from '#control/conflict.ts';
import { loadSetting } from '#settings/stored-setting.ts';

import { createFaultPicker, type FaultPicker, type Picked, type Rule } from './fault-picker.ts';
import {
  ADDED_MAX,
  type AddedScript,
  type CallbackRule,
  type FaultScript,
  FaultScripts,
  NO_FAULTS,
  type Only,
  type SettlingOperation,
} from './fault-script.ts';
import { readItemNames, type Subject, type SubjectNames } from './subject.ts';
import { findSubjects } from './subjects.sql.ts';

type Operation = Rule['operation'];

/** The fault scripts in force. Counts that a fault has used up stay used up across a restart. */
export type Faults = {
  /** `readNames` is asked only where some rule is about somebody alone. */
  pick<Asked extends Operation>(
    operation: Asked,
    readNames: () => SubjectNames,
  ): Promise<Picked<Asked>>;
  /** Whether no rule of any script speaks of this settling. */
  settlesAsUsual(operation: SettlingOperation): boolean;
  /** What goes wrong with the notices of these items, one each. */
  pickCallbacks(items: readonly object[]): Promise<(CallbackRule | null)[]>;
  /** Whom rules still keep from settling: one filter each, `{}` for everybody. */
  heldBack(operation: SettlingOperation): Only[];
  scripts(): FaultScripts;
  /** Puts one script in the place of everything. */
  replace(script: FaultScript): Promise<void>;
  /**
   * Puts a script beside the others.
   * @throws AppError `CONFLICT` where there are too many
   */
  add(script: FaultScript): Promise<AddedScript>;
  /** Removes an added script; one that is gone already stays so. */
  remove(id: string): Promise<void>;
};

const SETTING_NAME = 'faults';

export async function loadFaults(db: Queryable): Promise<Faults> {
  const stored = await loadSetting(db, SETTING_NAME, { schema: FaultScripts, initial: NO_FAULTS });
  let picker = createFaultPicker(stored.get());
  return {
    pick: async (operation, readNames) => {
      if (isUsual(operation)) return { latencyMs: 0, rule: null };
      const [subject = {}] = await subjectsOf(operation, () => [readNames()]);
      return await keepCounts(() => picker.pick(operation, subject));
    },
    settlesAsUsual: isUsual,
    pickCallbacks: async (items) => {
      if (isUsual('callback')) return items.map(() => null);
      const subjects = await subjectsOf('callback', () => items.map(readItemNames));
      return await keepCounts(() =>
        items.map((_, index) => picker.pick('callback', subjects[index]).rule),
      );
    },
    heldBack: (operation) =>
      rulesOf(operation).flatMap(({ fault, only }) => (fault === 'hang' ? [only ?? {}] : [])),
    scripts: () => picker.scripts(),
    replace: async (script) => {
      picker = createFaultPicker(script);
      await stored.set(script);
    },
    add: async (script) => {
      if ((picker.scripts().added ?? []).length >= ADDED_MAX) {
        throw conflict('Too many scripts were added.');
      }
      const added = { id: randomUUID(), ...script };
      picker.add(added);
      await stored.set(picker.scripts());
      return added;
    },
    remove: async (id) => {
      if (picker.remove(id)) await stored.set(picker.scripts());
    },
  };

  function rulesOf(operation: Operation) {
    return picker.rules().filter((rule) => rule.operation === operation);
  }

  function isUsual(operation: Operation): boolean {
    return rulesOf(operation).length === 0;
  }

  /** Looked up over connections of its own: an order or a refund that asks holds one of the others. */
  async function subjectsOf(
    operation: Operation,
    readNames: () => SubjectNames[],
  ): Promise<Subject[]> {
    const isAsked = rulesOf(operation).some(({ only }) => only !== undefined);
    return isAsked ? await findSubjects(db, readNames()) : [];
  }

  async function keepCounts<T>(pick: () => T): Promise<T> {
    const before = countsOf(picker);
    const picked = pick();
    if (countsOf(picker) !== before) await stored.set(picker.scripts());
    return picked;
  }
}

function countsOf(picker: FaultPicker): string {
  const { rules, added = [] } = picker.scripts();
  const all = [...rules, ...added.flatMap((script) => script.rules)];
  return all.map(({ count }) => count ?? '').join(',');
}
