import type { Queryable } from '@pixmesh/postgres/pool';
import type { z } from 'zod';

import { readSetting, writeSetting } from './settings.sql.ts';

/** One value of the control API: read from memory, and durable before a change of it is answered. */
export type StoredSetting<T extends object> = {
  get(): T;
  /** Replaces the value; resolves when it is stored. */
  set(value: T): Promise<void>;
};

/** Loads a setting once. The process is the only one that changes it. */
export async function loadSetting<Schema extends z.ZodType<object>>(
  db: Queryable,
  name: string,
  options: { schema: Schema; initial: z.output<Schema> },
): Promise<StoredSetting<z.output<Schema>>> {
  const stored = options.schema.safeParse(await readSetting(db, name));
  let value = stored.success ? stored.data : options.initial;
  let writing: Promise<void> = Promise.resolve();
  return {
    get: () => value,
    set: async (next) => {
      value = next;
      // Writes follow one another and each stores the newest value, so an older one never wins.
      const write = writing.then(async () => await writeSetting(db, name, value));
      writing = write.catch(() => undefined);
      await write;
    },
  };
}
