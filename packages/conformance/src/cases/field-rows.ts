import { z } from 'zod';

import { equal, shaped } from '../client/expectations.ts';
import type { Observe, ObservedCase } from '../suite/case.ts';
import type { World } from '../world/world.ts';

/** A field has to have the value that the body had. */
export const AS_SENT = Symbol('as sent');

type Subject<T> = { resource: T; sent?: object };
/** A value, a schema, or a check of its own of the value and the resource. */
type Expected<T> =
  | string
  | number
  | boolean
  | null
  | typeof AS_SENT
  | z.ZodType
  | ((value: string | null, resource: T) => unknown);

/** Rows of a table of fields, each checked in one resource; a second row of a field ends in `-null`. */
export function rows<T extends object>(
  observe: Observe,
  get: (world: World) => Promise<Subject<T>>,
  table: Readonly<Record<string, readonly [string, Expected<T>]>>,
): ObservedCase[] {
  return Object.entries(table).map(([id, [note, expected]]) =>
    observe(id, `\`${id}\`: ${note}`, async (world) => {
      const subject = await get(world);
      const field = id.replace(/-null$/, '');
      const value = valueAt(subject.resource, field);
      if (expected instanceof z.ZodType) shaped(expected, value, field);
      else if (typeof expected === 'function') expected(value as string | null, subject.resource);
      else if (expected === AS_SENT) equal(value, sentAs(subject.sent, field), field);
      else equal(value, expected, field);
    }),
  );
}

function valueAt(resource: object, field: string): unknown {
  return field
    .split('.')
    .reduce<unknown>((one, name) => (one as Record<string, unknown> | null)?.[name], resource);
}

/** A payout's recipient is sent in fields of its own. */
function sentAs(sent: object | undefined, field: string): unknown {
  const [group, name] = field.split('.');
  const names = group === 'recipient' ? [name, `recipient_${name}`] : [field];
  const found = Object.entries(sent ?? {}).find(([one]) => names.includes(one));
  return found?.[1];
}

export function secondsBetween(from: string | null, to: string | null): number {
  return (Date.parse(to ?? '') - Date.parse(from ?? '')) / 1_000;
}

/** A document without its mask. */
export function plain(document: string | null): string {
  return (document ?? '').replaceAll(/[.\-/ ]/g, '');
}
