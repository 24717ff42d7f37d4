import { isDeepStrictEqual } from 'node:util';

import type { JsonSchema } from '../../src/openapi/document.ts';

/** Which way data of a schema travels: to us, where narrowing breaks callers, or from us, where widening does. */
export type Direction = 'input' | 'output';

type Schemas = Readonly<Record<string, JsonSchema>>;

export type SchemaPair = {
  before: JsonSchema;
  after: JsonSchema;
  /** Components of either document, where references lead. */
  components: { before: Schemas; after: Schemas };
  direction: Direction;
  /** For people: where in the document this is. */
  place: string;
};

/** Schemas of this product are a few levels deep and never recursive. */
const DEPTH_MAX = 32;

/** Limits of inputs: whether `after` takes less than `before` when it stands in for it. */
const NARROWS: Readonly<Record<string, (before: unknown, after: unknown) => boolean>> = {
  minimum: isHigher,
  exclusiveMinimum: isHigher,
  minLength: isHigher,
  minItems: isHigher,
  maximum: isLower,
  exclusiveMaximum: isLower,
  maxLength: isLower,
  maxItems: isLower,
};
/** Keywords that say nothing about what is valid, or that are compared by themselves. */
const HANDLED = new Set([
  ...Object.keys(NARROWS),
  'type',
  'enum',
  'const',
  'format',
  'properties',
  'required',
  'items',
  'anyOf',
  'oneOf',
  'description',
  'title',
  'examples',
  'example',
  'deprecated',
  '$comment',
]);

/**
 * What of a schema's change would break a strict client of the earlier one (specification, Versioning). New fields
 * and new values of answers are allowed, new optional fields of requests too; compared on the side of caution where
 * a keyword cannot be compared.
 */
export function compareSchemas(pair: SchemaPair, depth = 0): string[] {
  if (depth > DEPTH_MAX) return [`${pair.place}: too deep to compare`];
  const { components } = pair;
  const before = flatten(pair.before, components.before);
  const after = flatten(pair.after, components.after);
  const flat = { ...pair, before, after };
  return [
    ...compareTypes(flat),
    ...compareValues(flat),
    ...compareFormat(flat),
    ...compareLimits(flat),
    ...compareProperties(flat, depth),
    ...compareItems(flat, depth),
    ...compareAlternatives(flat, depth),
  ];
}

/** Follows references and joins the parts of `allOf`, so that the same schema written otherwise compares equal. */
function flatten(schema: JsonSchema, components: Schemas, depth = 0): JsonSchema {
  if (depth > DEPTH_MAX) return schema;
  const { $ref, allOf, ...own } = schema;
  const name = typeof $ref === 'string' ? ($ref.split('/').at(-1) ?? '') : '';
  const parts = [
    ...($ref === undefined ? [] : [components[name] ?? {}]),
    ...((allOf ?? []) as JsonSchema[]),
  ];
  const joined = parts.reduce((all, part) => join(flatten(part, components, depth + 1), all), own);
  return foldNull(joined, components, depth);
}

/** One typed schema or null is a schema of both types, however it is written. */
function foldNull(schema: JsonSchema, components: Schemas, depth: number): JsonSchema {
  const { anyOf, ...rest } = schema;
  const [one, nothing, ...more] = (anyOf ?? []) as JsonSchema[];
  if (one === undefined || nothing?.['type'] !== 'null' || more.length > 0) return schema;
  const inner = flatten(one, components, depth + 1);
  if (typeof inner['type'] !== 'string') return schema;
  const values = valuesOf(inner);
  return {
    ...rest,
    ...inner,
    type: [inner['type'], 'null'],
    ...(values === null ? {} : { enum: [...values, null] }),
  };
}

function join(base: JsonSchema, more: JsonSchema): JsonSchema {
  const properties = propertiesOf(base);
  for (const [name, schema] of Object.entries(propertiesOf(more))) {
    properties[name] = { ...properties[name], ...schema };
  }
  const required = [...new Set([...requiredOf(base), ...requiredOf(more)])];
  return {
    ...base,
    ...more,
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
  };
}

function compareTypes({ before, after, direction, place }: SchemaPair): string[] {
  const [wide, narrow] = direction === 'input' ? [after, before] : [before, after];
  const allowed = typesOf(wide);
  const lost = allowed === null ? [] : (typesOf(narrow) ?? ['any']).filter(isNotIn(allowed));
  if (lost.length === 0) return [];
  return [`${place}: type changed from ${text(before['type'])} to ${text(after['type'])}`];
}

function compareValues({ before, after, direction, place }: SchemaPair): string[] {
  if (direction === 'input') {
    const taken = valuesOf(after);
    if (taken === null) return [];
    const lost = valuesOf(before)?.filter(isNotIn(taken));
    if (lost === undefined) return [`${place}: only ${text(taken)} taken now`];
    return lost.map((value) => `${place}: ${text(value)} is no longer taken`);
  }
  // More values may appear in answers without notice; a constant is the name of a thing.
  const isRenamed =
    'const' in before && !(valuesOf(after) ?? [before['const']]).includes(before['const']);
  return isRenamed ? [`${place}: ${text(before['const'])} became ${text(valuesOf(after))}`] : [];
}

function compareFormat({ before, after, direction, place }: SchemaPair): string[] {
  const [was, is] = [before['format'], after['format']];
  if (was === is || (direction === 'input' && is === undefined)) return [];
  if (direction === 'output' && was === undefined) return [];
  return [`${place}: format changed from ${text(was)} to ${text(is)}`];
}

function compareLimits({ before, after, direction, place }: SchemaPair): string[] {
  if (direction === 'output') return [];
  const narrowed = Object.entries(NARROWS)
    .filter(([keyword, narrows]) => narrows(before[keyword], after[keyword]))
    .map(
      ([keyword]) =>
        `${place}: ${keyword} went from ${text(before[keyword])} to ${text(after[keyword])}`,
    );
  const others = Object.keys(after)
    .filter((keyword) => !HANDLED.has(keyword) && !keyword.startsWith('x-'))
    .filter((keyword) => !isDeepStrictEqual(before[keyword], after[keyword]))
    .map((keyword) => `${place}: ${keyword} changed to ${text(after[keyword])}`);
  return [...narrowed, ...others];
}

function compareProperties(pair: SchemaPair, depth: number): string[] {
  const { before, after, direction, place } = pair;
  const now = propertiesOf(after);
  const fields = Object.entries(propertiesOf(before)).flatMap(([name, schema]) => {
    const next = now[name];
    const field = { ...pair, before: schema, after: next ?? {}, place: `${place}.${name}` };
    return next === undefined ? [`${field.place}: removed`] : compareSchemas(field, depth + 1);
  });
  const [was, is] = [requiredOf(before), requiredOf(after)];
  const obligations =
    direction === 'input'
      ? is.filter(isNotIn(was)).map((name) => `${place}.${name}: required now`)
      : was
          .filter((name) => name in now && !is.includes(name))
          .map((name) => `${place}.${name}: may be missing now`);
  return [...fields, ...obligations];
}

function compareItems(pair: SchemaPair, depth: number): string[] {
  const [before, after] = [pair.before['items'], pair.after['items']];
  const [wide, narrow] = pair.direction === 'input' ? [after, before] : [before, after];
  if (wide === undefined) return [];
  if (narrow === undefined) return [`${pair.place}[]: type changed`];
  const items = { before: before as JsonSchema, after: after as JsonSchema };
  return compareSchemas({ ...pair, ...items, place: `${pair.place}[]` }, depth + 1);
}

/** Every form that was taken has to fit a form that is taken; answers the other way round. */
function compareAlternatives(pair: SchemaPair, depth: number): string[] {
  const [before, after] = [alternativesOf(pair.before), alternativesOf(pair.after)];
  if (before === null && after === null) return [];
  const [wide, narrow] = pair.direction === 'input' ? [after, before] : [before, after];
  if (wide === null) return [];
  const fits = (one: JsonSchema, other: JsonSchema): boolean => {
    const order =
      pair.direction === 'input' ? { before: one, after: other } : { before: other, after: one };
    return compareSchemas({ ...pair, ...order }, depth + 1).length === 0;
  };
  const self = pair.direction === 'input' ? pair.before : pair.after;
  return (narrow ?? [self]).every((one) => wide.some((other) => fits(one, other)))
    ? []
    : [`${pair.place}: alternatives changed`];
}

function alternativesOf(schema: JsonSchema): JsonSchema[] | null {
  return (schema['anyOf'] ?? schema['oneOf'] ?? null) as JsonSchema[] | null;
}

/** Null: any type. A number takes integers too. */
function typesOf(schema: JsonSchema): string[] | null {
  const { type } = schema;
  if (type === undefined) return null;
  const types = (Array.isArray(type) ? type : [type]) as string[];
  return types.includes('number') ? [...types, 'integer'] : types;
}

function valuesOf(schema: JsonSchema): unknown[] | null {
  if ('const' in schema) return [schema['const']];
  return (schema['enum'] ?? null) as unknown[] | null;
}

function propertiesOf(schema: JsonSchema): Record<string, JsonSchema> {
  return { ...(schema['properties'] as Record<string, JsonSchema> | undefined) };
}

function requiredOf(schema: JsonSchema): string[] {
  return (schema['required'] ?? []) as string[];
}

function isHigher(before: unknown, after: unknown): boolean {
  return typeof after === 'number' && (typeof before !== 'number' || after > before);
}

function isLower(before: unknown, after: unknown): boolean {
  return typeof after === 'number' && (typeof before !== 'number' || after < before);
}

function isNotIn(list: readonly unknown[]): (value: unknown) => boolean {
  return (value) => !list.includes(value);
}

function text(value: unknown): string {
  return value === undefined ? 'none' : JSON.stringify(value);
}
