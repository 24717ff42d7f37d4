import { createAnswerChecker } from '@pixmesh/testkit/answer-checker';
import type { OpenApiDocument, Operation } from '@pixmesh/contracts/openapi/document';
import { codesOfResponse, resolveResponse } from '@pixmesh/contracts/openapi/resolve-response';

/** One answer as it came over the wire; names of headers in lower case. */
export type WireAnswer = {
  method: string;
  /** With its query. */
  url: string;
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
};

type Verdict = {
  /** Null where the document describes nothing for this method and path. */
  operationId: string | null;
  /** Of an error. */
  code: string | null;
  /** What stands outside the document; empty when all of it is described. */
  faults: string[];
};

export type WireChecker = {
  check(answer: WireAnswer): Verdict;
  /** Every error code that the document lists, as `<operation> <code>`. */
  listedCodes: readonly string[];
};

type Described = { path: string; pattern: RegExp; methods: Map<string, Operation> };

/** Checks what came over the wire by the document, and by what holds for every answer of the listener. */
export function createWireChecker(document: OpenApiDocument): WireChecker {
  const check = createAnswerChecker(document);
  const described = listPaths(document);
  const operations = described.flatMap(({ methods }) => [...methods.values()]);
  return {
    check: (answer) => {
      const { pathname } = new URL(answer.url);
      const { method, status } = answer;
      const items = described.filter(({ pattern }) => pattern.test(pathname));
      // `PATCH /v1/webhooks/events` is the route of one endpoint with an ill-formed id (decision 14).
      const item = items.find(({ methods }) => methods.has(method.toLowerCase())) ?? items[0];
      const { body, faults } = readBody(answer);
      const headers = answer.headers as Record<string, string | undefined>;
      return {
        operationId: item?.methods.get(method.toLowerCase())?.operationId ?? null,
        code: codeOf(body),
        faults: [
          ...faults,
          ...commonFaults(answer),
          ...check({ method, path: item?.path ?? null, status, headers, body }),
        ],
      };
    },
    listedCodes: operations.flatMap(({ operationId, responses }) =>
      Object.entries(responses)
        .filter(([status]) => status >= '400')
        .flatMap(([, response]) => codesOfResponse(resolveResponse(response, document)))
        .map((code) => `${operationId} ${code}`),
    ),
  };
}

/** Concrete paths come before templated ones (OpenAPI 3.1, Path Templating). */
function listPaths({ paths }: OpenApiDocument): Described[] {
  const concreteFirst = Object.entries(paths).toSorted(
    ([one], [other]) => Number(one.includes('{')) - Number(other.includes('{')),
  );
  return concreteFirst.map(([path, item]) => ({
    path,
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
    methods: new Map(Object.entries(item)),
  }));
}

function readBody({ text }: WireAnswer): { body: unknown; faults: string[] } {
  if (text === '') return { body: null, faults: [] };
  try {
    return { body: JSON.parse(text), faults: [] };
  } catch {
    return { body: null, faults: ['the body is not JSON'] };
  }
}

function commonFaults({ headers, status }: WireAnswer): string[] {
  return [
    ...(status >= 500 ? [`status ${status}`] : []),
    ...(headers['x-request-id'] === undefined ? ['no request id'] : []),
    ...(headers['cache-control'] === 'no-store' ? [] : ['it may be cached']),
  ];
}

function codeOf(body: unknown): string | null {
  const code = (body as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : null;
}
