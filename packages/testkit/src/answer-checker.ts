import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';

import type {
  HttpMethod,
  JsonSchema,
  OpenApiDocument,
  Response,
} from '@pixmesh/contracts/openapi/document';
import { codesOfResponse, resolveResponse } from '@pixmesh/contracts/openapi/resolve-response';

export type ObservedAnswer = {
  method: string;
  /** The template as the document writes it, `/v1/charges/{id}`; null for a path that the document does not know. */
  path: string | null;
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  /** Parsed; null or undefined where the answer had none. */
  body: unknown;
};

export type CheckAnswer = (answer: ObservedAnswer) => string[];

/** What the router answers where no route does (decision 254). */
const ROUTER_CODES: Readonly<Record<number, string>> = {
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
};
const JSON_TYPE = /^application\/json\s*(;|$)/;

/**
 * Judges answers by the document alone: status, headers, media type and body. For tests of any kind that call a
 * running installation; an empty list means that the answer is one the document announces. Stricter than the document
 * in one thing: clients have to take values of tomorrow, our answers of today hold known ones.
 */
export function createAnswerChecker(document: OpenApiDocument): CheckAnswer {
  const compile = createCompiler(document);
  return (answer) => {
    if (answer.path === null) return checkRouterAnswer(answer, compile);
    const operation = document.paths[answer.path]?.[answer.method.toLowerCase() as HttpMethod];
    if (operation === undefined) {
      return answer.status === 405
        ? checkRouterAnswer(answer, compile)
        : [`${answer.method} ${answer.path} is not in the document`];
    }
    const described = operation.responses[answer.status];
    if (described === undefined) {
      return [`${operation.operationId}: status ${answer.status} is not in the document`];
    }
    const response = resolveResponse(described, document);
    return [
      ...checkCode(answer, response),
      ...checkHeaders(answer, response, { document, compile }),
      ...checkBody(answer, response, compile),
    ].map((fault) => `${operation.operationId} ${answer.status}: ${fault}`);
  };
}

type Compile = (schema: JsonSchema) => ValidateFunction;

/** References of a schema lead into the whole document; compiled once for each schema object. */
function createCompiler(document: OpenApiDocument): Compile {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  // oxlint-disable-next-line typescript/no-unsafe-call -- its types know only the CommonJS form
  (ajvFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  const components = closeEnumerations(document.components);
  ajv.addSchema({ $id: 'document:', components });
  const compiled = new WeakMap<JsonSchema, ValidateFunction>();
  return (schema) => {
    const known = compiled.get(schema);
    if (known) return known;
    const fresh = ajv.compile(withAbsoluteRefs(closeEnumerations(schema)) as JsonSchema);
    compiled.set(schema, fresh);
    return fresh;
  };
}

function withAbsoluteRefs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withAbsoluteRefs);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      key,
      key === '$ref' && typeof child === 'string' ? `document:${child}` : withAbsoluteRefs(child),
    ]),
  );
}

/** Turns the known values of answers, beside which clients take any text, into all there are. */
function closeEnumerations(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closeEnumerations);
  if (typeof value !== 'object' || value === null) return value;
  const { 'x-extensible-enum': known, ...schema } = value as JsonSchema;
  const closed = Object.entries(schema).map(([key, child]) => [key, closeEnumerations(child)]);
  const isNullable = Array.isArray(schema['type']) && schema['type'].includes('null');
  return {
    ...(Object.fromEntries(closed) as JsonSchema),
    ...(known === undefined
      ? {}
      : { enum: [...(known as unknown[]), ...(isNullable ? [null] : [])] }),
  };
}

/** The schema knows all codes of the API; an operation lists those that it may answer. */
function checkCode({ status, body }: ObservedAnswer, response: Response): string[] {
  const code = (body as { code?: unknown } | null | undefined)?.code;
  if (status < 400 || typeof code !== 'string' || codesOfResponse(response).includes(code)) {
    return [];
  }
  return [`the code ${code} is not listed`];
}

function checkHeaders(
  answer: ObservedAnswer,
  { headers = {} }: Response,
  { document, compile }: { document: OpenApiDocument; compile: Compile },
): string[] {
  return Object.entries(headers).flatMap(([name, headerOrRef]) => {
    const header =
      '$ref' in headerOrRef
        ? document.components.headers?.[headerOrRef.$ref.split('/').at(-1) ?? '']
        : headerOrRef;
    const value = answer.headers[name.toLowerCase()];
    if (header === undefined) return [`header ${name} has no description`];
    if (value === undefined) return header.required === true ? [`header ${name} is missing`] : [];
    return faultsOf(compile(header.schema), value).map((fault) => `header ${name} ${fault}`);
  });
}

function checkBody(answer: ObservedAnswer, { content }: Response, compile: Compile): string[] {
  const hasBody = answer.body !== null && answer.body !== undefined && answer.body !== '';
  if (content === undefined) return hasBody ? ['there is a body where none is announced'] : [];
  return [
    ...checkMediaType(answer),
    ...faultsOf(compile(content['application/json'].schema), answer.body).map(
      (fault) => `body${fault}`,
    ),
  ];
}

function checkMediaType({ headers }: ObservedAnswer): string[] {
  const type = headers['content-type'];
  return JSON_TYPE.test(type ?? '') ? [] : [`content-type is ${String(type)}`];
}

function checkRouterAnswer(answer: ObservedAnswer, compile: Compile): string[] {
  const code = ROUTER_CODES[answer.status];
  const where = `${answer.method} without a route: status ${answer.status}`;
  if (code === undefined) return [`${where} is not the router's`];
  const faults = faultsOf(
    compile({
      allOf: [
        { $ref: '#/components/schemas/Error' },
        { type: 'object', properties: { code: { const: code } } },
      ],
    }),
    answer.body,
  );
  const needsAllow = answer.status === 405 && answer.headers['allow'] === undefined;
  return [
    ...checkMediaType(answer),
    ...faults.map((fault) => `body${fault}`),
    ...(needsAllow ? ['header Allow is missing'] : []),
    ...(answer.headers['x-request-id'] === undefined ? ['header X-Request-Id is missing'] : []),
  ].map((fault) => `${where}: ${fault}`);
}

function faultsOf(validate: ValidateFunction, value: unknown): string[] {
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) =>
      `${instancePath} ${message ?? 'is wrong'} ${JSON.stringify(params)}`,
  );
}
