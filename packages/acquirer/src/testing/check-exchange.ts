import { z } from 'zod';

import { Problem, ReceivedPix } from './api-pix-shapes.ts';
import { EFI_DIALECT } from './efi-dialect.ts';
import { EfiError, SentNotice } from './efi-shapes.ts';
import {
  API_PIX,
  EFI,
  GENERAL_PROBLEMS,
  type Operation,
  operationOf,
  Token,
  TOKEN_ERRORS,
  TOKEN_OPERATION,
} from './operations.ts';

export type ObservedRequest = {
  method: string;
  /** Path and query. */
  url: string;
  body: string;
};

export type ObservedAnswer = {
  status: number;
  contentType: string;
  body: string;
  /** Whether a fault script may have chosen status and name. */
  mayBeFault: boolean;
};

const PROBLEM_TYPE = 'application/problem+json';
const OPERATIONS: Readonly<Record<string, Operation>> = { ...API_PIX, ...EFI };
const DIALECT = new Set(EFI_DIALECT.map(({ operation, what }) => `${operation} ${what}`));

/**
 * What is wrong with a request by the document and the dialect; none is an empty list. Ids in the path are not judged.
 */
export function checkRequest(request: ObservedRequest): string[] {
  const { pathname, searchParams } = new URL(request.url, 'http://provider');
  const name = operationOf(request.method, pathname);
  if (name === TOKEN_OPERATION) return [];
  const operation = name === null ? undefined : OPERATIONS[name];
  if (operation === undefined) return [`${request.method} ${pathname} is no operation`];
  return [
    ...faultsOf(`${name} query`, operation.query, Object.fromEntries(searchParams)),
    ...faultsOf(`${name} request`, operation.request, parse(request.body)),
  ];
}

/**
 * What is wrong with an answer. A call that was done must have been one that may be asked for, so its request is judged
 * too.
 */
export function checkExchange(request: ObservedRequest, answer: ObservedAnswer): string[] {
  const { pathname } = new URL(request.url, 'http://provider');
  const name = operationOf(request.method, pathname);
  const label = `${name ?? `${request.method} ${pathname}`} ${answer.status}`;
  if (answer.mayBeFault && !answer.contentType.includes('json')) return [];
  if (answer.status >= 400) return checkError(label, name, answer);
  if (name === null) return [`${label}: is no operation`];
  const schema = name === TOKEN_OPERATION ? Token : OPERATIONS[name]?.answers[answer.status];
  if (schema === undefined) return [`${label}: the status is not described`];
  if (schema === null) return answer.body === '' ? [] : [`${label}: has a body`];
  return [...checkBody(label, schema, answer), ...checkRequest(request)];
}

function checkBody(label: string, schema: z.ZodType | string, answer: ObservedAnswer): string[] {
  const { contentType, body } = answer;
  const isText = typeof schema === 'string';
  const mediaType = isText ? 'text/plain' : 'application/json';
  const described = isText ? z.literal(schema) : schema;
  return [
    ...(contentType.startsWith(mediaType) ? [] : [`${label}: media type`]),
    ...faultsOf(label, described, isText ? body : parse(body)),
  ];
}

/** What is wrong with an item of a callback. */
export function checkNoticeItem(item: object): string[] {
  return faultsOf('notice', 'tipo' in item ? SentNotice : ReceivedPix, item);
}

/** In the Central Bank's form, or in Efí's where the dialect or Efí's own operation says so. */
function checkError(label: string, name: string | null, answer: ObservedAnswer): string[] {
  const body = parse(answer.body);
  if (name === TOKEN_OPERATION) return checkTokenError(label, body, answer);
  const isProblem = answer.contentType.startsWith(PROBLEM_TYPE);
  const status = z.literal(answer.status);
  const faults = faultsOf(label, isProblem ? Problem.extend({ status }) : EfiError, body);
  if (faults.length > 0) return faults;
  const problem = `${answer.status} ${isProblem ? nameOf(body) : (body as { nome: string }).nome}`;
  const isFree = answer.mayBeFault && (isProblem || (name !== null && name in EFI));
  return isFree || isKnown(name, problem) ? [] : [`${label}: ${problem} is not described`];
}

function checkTokenError(label: string, body: unknown, answer: ObservedAnswer): string[] {
  const { error = '' } = (body ?? {}) as { error?: string };
  const isKnownError = TOKEN_ERRORS.has(`${answer.status} ${error}`);
  return answer.mayBeFault || isKnownError ? [] : [`${label}: ${error} is not described`];
}

function isKnown(name: string | null, problem: string): boolean {
  if (GENERAL_PROBLEMS.has(problem) || DIALECT.has(`* ${problem}`)) return true;
  if (name === null) return false;
  return (
    OPERATIONS[name]?.problems?.includes(problem) === true || DIALECT.has(`${name} ${problem}`)
  );
}

function nameOf(body: unknown): string {
  const { type } = body as { type: string };
  return type.slice(type.lastIndexOf('/') + 1);
}

function faultsOf(label: string, schema: z.ZodType | undefined, value: unknown): string[] {
  const result = schema?.safeParse(value);
  if (result === undefined || result.success) return [];
  return result.error.issues.map(
    ({ path, message }) => `${label}: ${path.map(String).join('.')} ${message}`,
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
