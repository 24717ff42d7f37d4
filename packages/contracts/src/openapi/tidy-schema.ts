import type { JsonSchema } from './document.ts';

/**
 * Brings what zod writes into the form that people and generators read best, without changing what it accepts:
 * objects stay open (compatible changes add fields), nullable texts become one schema with two types, and an
 * intersection of plain objects becomes one object.
 */
export function tidySchema(schema: JsonSchema): JsonSchema {
  const { $schema: _dialect, $id: _id, ...own } = mapChildren(schema);
  return [openObject, dropNoise, joinObjects, foldNullable].reduce(
    (tidied, step) => step(tidied),
    own,
  );
}

function mapChildren(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, mapChild(keyword, value)]),
  );
}

function mapChild(keyword: string, value: unknown): unknown {
  switch (keyword) {
    case 'properties':
      return Object.fromEntries(
        Object.entries(value as Record<string, JsonSchema>).map(([name, property]) => [
          name,
          tidySchema(property),
        ]),
      );
    case 'items':
      return tidySchema(value as JsonSchema);
    case 'anyOf':
    case 'allOf':
      return (value as JsonSchema[]).map(tidySchema);
    default:
      return value;
  }
}

function openObject({ additionalProperties: _closed, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

/** A pattern beside a format of zod's own says the same at length; bounds at 2^53 say that it is JSON. */
function dropNoise(schema: JsonSchema): JsonSchema {
  const { pattern, minimum, maximum, ...rest } = schema;
  const formatted = schema['format'] === 'uuid' || schema['format'] === 'date-time';
  return {
    ...rest,
    ...(pattern === undefined || formatted ? {} : { pattern }),
    ...(minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum }),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
  };
}

function joinObjects(schema: JsonSchema): JsonSchema {
  const parts = schema['allOf'] as JsonSchema[] | undefined;
  if (parts === undefined || !parts.every(({ type }) => type === 'object')) return schema;
  const { allOf: _parts, ...rest } = schema;
  return {
    ...rest,
    type: 'object',
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required = [] }) => required as string[]),
  };
}

/** `anyOf` of one typed schema and null. An enum, a constant or a reference would not take the null in. */
export function foldNullable(schema: JsonSchema): JsonSchema {
  const [inner, nothing, ...more] = (schema['anyOf'] ?? []) as JsonSchema[];
  if (inner === undefined || nothing?.['type'] !== 'null' || more.length > 0) return schema;
  if (typeof inner['type'] !== 'string' || 'enum' in inner || 'const' in inner) return schema;
  const { anyOf: _both, ...rest } = schema;
  return { ...inner, ...rest, type: [inner['type'], 'null'] };
}
