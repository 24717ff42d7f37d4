import { compareSecurity, compareServers } from './compare-access.ts';
import { compareSchemas, type Direction } from './compare-schemas.ts';
import type {
  Header,
  HttpMethod,
  JsonSchema,
  OpenApiDocument,
  Operation,
  Parameter,
  PathItem,
  Response,
} from '../../src/openapi/document.ts';
import { codesOfResponse, resolveResponse } from '../../src/openapi/resolve-response.ts';

/** Two documents of the same API: the one that clients were written from, and the one to be released. */
type Releases = { before: OpenApiDocument; after: OpenApiDocument };
type Operations = Releases & { was: Operation; is: Operation; place: string };

/**
 * Everything in `after` that breaks a client written from `before` (specification, Versioning): addresses, credentials,
 * routes, events, fields, headers or codes that are gone or renamed, types that changed, inputs that became required or
 * narrower. What is merely new is no fault.
 */
export function findBreakingChanges(before: OpenApiDocument, after: OpenApiDocument): string[] {
  const releases = { before, after };
  return [
    ...compareServers(releases),
    ...compareItems(releases, { was: before.paths, is: after.paths }, compareRoute),
    ...compareItems(
      releases,
      { was: before.webhooks ?? {}, is: after.webhooks ?? {} },
      compareDelivery,
    ),
  ];
}

type Items = { was: Record<string, PathItem>; is: Record<string, PathItem> };

function compareItems(
  releases: Releases,
  { was, is }: Items,
  compare: (operations: Operations) => string[],
): string[] {
  return Object.entries(was).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) => {
      const place = `${method.toUpperCase()} ${path}`;
      const next = is[path]?.[method as HttpMethod];
      if (next === undefined) return [`${place}: removed`];
      return compare({ ...releases, was: operation, is: next, place });
    }),
  );
}

function compareRoute(operations: Operations): string[] {
  return [
    ...compareIdentity(operations),
    ...compareSecurity(operations, operations),
    ...compareParameters(operations, 'input'),
    ...compareRequestBody(operations),
    ...compareResponses(operations),
  ];
}

/** We are the caller there: headers and body are what the client receives. */
function compareDelivery(operations: Operations): string[] {
  const { was, is, place } = operations;
  return [
    ...compareIdentity(operations),
    ...(was['x-dispatched'] === true && is['x-dispatched'] !== true
      ? [`${place}: no longer delivered`]
      : []),
    ...compareParameters(operations, 'output'),
    ...compareContent(operations, {
      was: was.requestBody,
      is: is.requestBody,
      direction: 'output',
      name: 'body',
    }),
  ];
}

function compareIdentity({ was, is, place }: Operations): string[] {
  const scope = is['x-scope'] ?? null;
  const isNarrower = scope !== null && scope !== was['x-scope'];
  return [
    ...(was.operationId === is.operationId
      ? []
      : [`${place}: operationId renamed from ${was.operationId} to ${is.operationId}`]),
    ...(isNarrower ? [`${place}: needs scope ${scope} now`] : []),
  ];
}

function compareParameters(operations: Operations, direction: Direction): string[] {
  const { was, is, place } = operations;
  const nameOf = ({ in: where, name }: Parameter) => `${place} ${where} ${name}`;
  const find = (list: Parameter[] = [], wanted: Parameter) =>
    list.find((one) => one.in === wanted.in && one.name === wanted.name);
  const kept = (was.parameters ?? []).flatMap((parameter) => {
    const next = find(is.parameters, parameter);
    if (next === undefined) return [`${nameOf(parameter)}: removed`];
    const weaker = direction === 'output' && parameter.required && !next.required;
    return [
      ...(weaker ? [`${nameOf(parameter)}: may be missing now`] : []),
      ...compareTwo(operations, {
        was: parameter.schema,
        is: next.schema,
        direction,
        place: nameOf(parameter),
      }),
    ];
  });
  const demanded = (is.parameters ?? []).filter(
    (next) => next.required && find(was.parameters, next)?.required !== true,
  );
  return [
    ...kept,
    ...(direction === 'output' ? [] : demanded.map((next) => `${nameOf(next)}: required now`)),
  ];
}

function compareRequestBody(operations: Operations): string[] {
  const { was, is, place } = operations;
  if (was.requestBody?.required !== true && is.requestBody?.required === true) {
    return [`${place} body: required now`];
  }
  return compareContent(operations, {
    was: was.requestBody,
    is: is.requestBody,
    direction: 'input',
    name: 'body',
  });
}

function compareResponses(operations: Operations): string[] {
  const { was, is, place, before, after } = operations;
  return Object.entries(was.responses).flatMap(([status, described]) => {
    const named = is.responses[status];
    if (named === undefined) return [`${place} ${status}: removed`];
    const [response, next] = [resolveResponse(described, before), resolveResponse(named, after)];
    return [
      ...compareCodes(`${place} ${status}`, response, next),
      ...compareHeaders(operations, { was: response, is: next, place: `${place} ${status}` }),
      ...compareContent(operations, {
        was: response,
        is: next,
        direction: 'output',
        name: status,
      }),
    ];
  });
}

/** Codes of an error are named by its examples. A new one may appear; one that clients handle must not go. */
function compareCodes(place: string, was: Response, is: Response): string[] {
  const isError = /^[45]\d\d$/.test(place.split(' ').at(-1) ?? '');
  if (!isError) return [];
  const now = codesOfResponse(is);
  return codesOfResponse(was)
    .filter((code) => !now.includes(code))
    .map((code) => `${place}: code ${code} removed`);
}

function compareHeaders(
  operations: Operations,
  { was, is, place }: { was: Response; is: Response; place: string },
): string[] {
  return Object.entries(was.headers ?? {}).flatMap(([name, header]) => {
    const next = is.headers?.[name];
    if (next === undefined) return [`${place} header ${name}: removed`];
    const [old, current] = [
      resolveHeader(header, operations.before),
      resolveHeader(next, operations.after),
    ];
    const weaker = old.required === true && current.required !== true;
    return [
      ...(weaker ? [`${place} header ${name}: may be missing now`] : []),
      ...compareTwo(operations, {
        was: old.schema,
        is: current.schema,
        direction: 'output',
        place: `${place} header ${name}`,
      }),
    ];
  });
}

function resolveHeader(header: Header | { $ref: string }, document: OpenApiDocument): Header {
  if (!('$ref' in header)) return header;
  const name = header.$ref.split('/').at(-1) ?? '';
  return document.components.headers?.[name] ?? { description: '', schema: {} };
}

type WithContent = Pick<Response, 'content'> | undefined;

function compareContent(
  operations: Operations,
  part: { was: WithContent; is: WithContent; direction: Direction; name: string },
): string[] {
  const [was, is] = [part.was?.content, part.is?.content];
  const place = `${operations.place} ${part.name}`;
  if (was === undefined) return [];
  if (is === undefined) return [`${place}: content removed`];
  return compareTwo(operations, {
    was: was['application/json'].schema,
    is: is['application/json'].schema,
    direction: part.direction,
    place,
  });
}

function compareTwo(
  { before, after }: Releases,
  pair: { was: JsonSchema; is: JsonSchema; direction: Direction; place: string },
): string[] {
  return compareSchemas({
    before: pair.was,
    after: pair.is,
    components: { before: before.components.schemas, after: after.components.schemas },
    direction: pair.direction,
    place: pair.place,
  });
}
