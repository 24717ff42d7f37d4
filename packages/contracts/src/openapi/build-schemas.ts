import assert from 'node:assert';

import { z } from 'zod';

import type { JsonSchema } from './document.ts';
import { isEnumeration, type Lists, openEnumerations } from './open-enumerations.ts';
import { tidySchema } from './tidy-schema.ts';

type Named = Readonly<Record<string, z.ZodType>>;

export type DocumentSchemas = {
  /** What stands under `components.schemas`. */
  components: Record<string, JsonSchema>;
  /** A reference to a named schema. */
  refTo(schema: z.ZodType): JsonSchema;
  /** The parameters of a named query, by name: queries are no components of their own. */
  propertiesOf(query: z.ZodType): Record<string, JsonSchema>;
};

const COMPONENTS = '#/components/schemas/';

/**
 * Writes zod schemas down as components by name. What clients send is described as it may come in, what they get
 * as it goes out; a schema of both sides (an enum) has to look alike on both, so that it stands there once. What goes
 * out takes other values than the known ones too.
 */
export function buildSchemas(named: {
  requests: Named;
  responses: Named;
  queries: Named;
}): DocumentSchemas {
  const incoming = convert({ ...named.requests, ...named.queries }, 'input');
  const outgoing = openAnswers(convert(named.responses, 'output'));
  for (const [name, schema] of Object.entries(incoming)) {
    if (outgoing[name]) assert.deepEqual(schema, outgoing[name], `${name} has two forms`);
  }
  const all = describeEnumerations({ ...incoming, ...outgoing });
  const isQuery = (name: string) => name in named.queries;
  const names = new Map(
    [named.requests, named.responses, named.queries].flatMap((group) =>
      Object.entries(group).map(([name, schema]) => [schema, name] as const),
    ),
  );
  const nameOf = (schema: z.ZodType): string => {
    const name = names.get(schema);
    assert(name !== undefined, 'a schema of the route table has no name in the document');
    return name;
  };
  return {
    components: Object.fromEntries(
      Object.entries(all)
        .filter(([name]) => !isQuery(name))
        .toSorted(([one], [other]) => (one < other ? -1 : 1)),
    ),
    refTo: (schema) => ({ $ref: COMPONENTS + nameOf(schema) }),
    propertiesOf: (query) =>
      (all[nameOf(query)]?.['properties'] ?? {}) as Record<string, JsonSchema>,
  };
}

/** Values of answers may be added within v1 (specification, Versioning); those of requests are all there are. */
function openAnswers(schemas: Record<string, JsonSchema>): Record<string, JsonSchema> {
  const lists: Lists = new Map(
    Object.entries(schemas)
      .filter(([, schema]) => isEnumeration(schema))
      .map(([name, schema]) => [COMPONENTS + name, { name, values: schema['enum'] as string[] }]),
  );
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, openEnumerations(schema, lists)]),
  );
}

const OF_ENUMERATION =
  'The values known today. Answers may show others within v1: treat those as a generic case.';

function describeEnumerations(schemas: Record<string, JsonSchema>): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      isEnumeration(schema) ? { ...schema, description: OF_ENUMERATION } : schema,
    ]),
  );
}

function convert(named: Named, io: 'input' | 'output'): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    target: 'draft-2020-12',
    io,
    uri: (id) => COMPONENTS + id,
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, schema]) => [id, tidySchema(schema as JsonSchema)]),
  );
}
