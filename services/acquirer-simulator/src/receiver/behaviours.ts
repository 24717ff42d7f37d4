import type { Queryable } from '@pixmesh/postgres/pool';
import { z } from 'zod';

import { loadSetting } from '#settings/stored-setting.ts';

import { Behaviour } from './behaviour.ts';

/** Behaviours by path, durable; the times one has been used stay used across a restart. */
export type Behaviours = {
  set(path: string, behaviour: Behaviour): Promise<void>;
  /** The behaviour that holds for the next request of a path, used up by one. */
  take(path: string): Promise<Behaviour>;
};

const SETTING_NAME = 'receiver-behaviours';
/** Paths with a behaviour of their own; above it the oldest one ends. */
const PATHS_MAX = 10_000;

const Stored = z.object({ entries: z.array(z.tuple([z.string(), Behaviour])) });

export async function loadBehaviours(db: Queryable): Promise<Behaviours> {
  const stored = await loadSetting(db, SETTING_NAME, { schema: Stored, initial: { entries: [] } });
  const behaviours = new Map(stored.get().entries);
  return {
    set: async (path, behaviour) => {
      behaviours.delete(path);
      behaviours.set(path, behaviour);
      const [oldest] = behaviours.keys();
      if (behaviours.size > PATHS_MAX && oldest !== undefined) behaviours.delete(oldest);
      await store();
    },
    take: async (path) => {
      const behaviour = behaviours.get(path);
      if (behaviour?.times === undefined) return behaviour ?? {};
      if (behaviour.times === 0) return {};
      behaviours.set(path, { ...behaviour, times: behaviour.times - 1 });
      await store();
      return behaviour;
    },
  };

  async function store(): Promise<void> {
    await stored.set({ entries: [...behaviours] });
  }
}
