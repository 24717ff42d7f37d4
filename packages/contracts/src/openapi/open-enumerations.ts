import type { JsonSchema } from './document.ts';
import { foldNullable } from './tidy-schema.ts';

/** Announced to grow; every other constant is the name of a kind (`object`, `resource`) or fixed (`currency`). */
const GROWING_CONSTANTS: ReadonlySet<string> = new Set(['method']);

/** A longer list that has a name is not repeated in a field's text. */
const SHOWN_VALUES_MAX = 12;

/** Lists of values by reference. */
export type Lists = ReadonlyMap<unknown, { name: string; values: readonly string[] }>;

/**
 * A schema of answers with its lists of values open: any text, with the known values beside it (ADR 0021). A list that
 * stands by itself stays closed, because requests refer to it too.
 */
export function openEnumerations(schema: JsonSchema, lists: Lists): JsonSchema {
  return isEnumeration(schema) ? schema : openChildren(schema, lists);
}

export function isEnumeration({ type, enum: values }: JsonSchema): boolean {
  return type === 'string' && values !== undefined;
}

function openPart(schema: JsonSchema, lists: Lists): JsonSchema {
  const list = lists.get(schema['$ref']);
  if (list !== undefined) return describeOpenList(schema, list);
  if (isEnumeration(schema))
    return describeOpenList(schema, { values: schema['enum'] as string[] });
  return openChildren(schema, lists);
}

function describeOpenList(
  { $ref: _list, enum: _values, type: _type, description, ...rest }: JsonSchema,
  { name, values }: { name?: string; values: readonly string[] },
): JsonSchema {
  const shown = values.map((value) => `\`${value}\``).join(', ');
  const isShort = values.length <= SHOWN_VALUES_MAX;
  const known = name === undefined || isShort ? shown : `\`${name}\``;
  const named = name === undefined || !isShort ? '' : ` (\`${name}\`)`;
  const text = `Known values${named}: ${known}; others may come.`;
  return {
    ...rest,
    type: 'string',
    'x-extensible-enum': values,
    description: description === undefined ? text : `${description as string} ${text}`,
  };
}

function openChildren(schema: JsonSchema, lists: Lists): JsonSchema {
  const { properties, items, anyOf } = schema;
  const open = (part: JsonSchema) => openPart(part, lists);
  return foldNullable({
    ...schema,
    ...(properties === undefined ? {} : { properties: openProperties(properties, open) }),
    ...(items === undefined ? {} : { items: open(items as JsonSchema) }),
    ...(anyOf === undefined ? {} : { anyOf: (anyOf as JsonSchema[]).map(open) }),
  });
}

function openProperties(properties: unknown, open: (part: JsonSchema) => JsonSchema): JsonSchema {
  const fields = Object.entries(properties as Record<string, JsonSchema>);
  return Object.fromEntries(
    fields.map(([name, schema]) => {
      const { const: value, ...rest } = schema;
      const grows = value !== undefined && GROWING_CONSTANTS.has(name);
      return [name, open(grows ? { ...rest, enum: [value] } : schema)];
    }),
  );
}
