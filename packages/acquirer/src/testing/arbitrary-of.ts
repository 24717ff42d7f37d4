import fc from 'fast-check';
import { z } from 'zod';

type JsonSchema = {
  type?: 'string' | 'integer' | 'boolean' | 'null' | 'array' | 'object';
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
};

const NUMBER_MAX = 1_000_000;
const ITEMS_MAX = 3;

/** Values of every form that a schema allows; a field that it forbids is left out. */
export function arbitraryOf(schema: z.ZodType): fc.Arbitrary<unknown> {
  return valuesOf(z.toJSONSchema(schema, { unrepresentable: 'any' }) as JsonSchema);
}

function valuesOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(valuesOf));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'string':
      return textsOf(schema);
    case 'integer':
      return fc.integer({
        min: Math.max(schema.minimum ?? 0, -NUMBER_MAX),
        max: Math.min(schema.maximum ?? NUMBER_MAX, NUMBER_MAX),
      });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(valuesOf(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: ITEMS_MAX,
      });
    case 'object':
      return objectsOf(schema);
    case undefined:
    default:
      throw new Error(`no values of ${JSON.stringify(schema)}`);
  }
}

function objectsOf({ properties = {}, required = [] }: JsonSchema): fc.Arbitrary<unknown> {
  const fields = Object.entries(properties)
    .filter(([, field]) => Object.keys(field).length > 0)
    .map(([name, field]) => [name, valuesOf(field)] as const);
  return fc.record(Object.fromEntries(fields), { requiredKeys: required });
}

function textsOf(schema: JsonSchema): fc.Arbitrary<string> {
  if (schema.format === 'date-time') {
    const bounds = { min: new Date('2000-01-01'), max: new Date('2100-01-01') };
    return fc.date({ ...bounds, noInvalidDate: true }).map((at) => at.toISOString());
  }
  if (schema.format === 'uri') return fc.webUrl();
  if (schema.pattern !== undefined) return fc.stringMatching(new RegExp(schema.pattern));
  return fc.string({ minLength: schema.minLength ?? 0, maxLength: schema.maxLength ?? 100 });
}
