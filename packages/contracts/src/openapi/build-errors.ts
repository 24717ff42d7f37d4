import assert from 'node:assert';

import { ERRORS } from '@pixmesh/kernel/app-error';
import type { z } from 'zod';

import { ERROR_STATUS, type PublicErrorCode } from '../http/error-body.ts';
import type { DocumentSchemas } from './build-schemas.ts';
import { EVERY_ANSWER } from './shared-headers.ts';
import type { Header, Reference, Response } from './document.ts';

/** One code that a route may answer. */
export type DescribedError = {
  code: PublicErrorCode;
  /** The body's schema: errors of some routes carry more. */
  schema: z.ZodType;
  /** What the example carries beside code and message. */
  example: { details?: readonly string[]; charge_id?: string };
  /** Whether schema and example are about this route alone. */
  isOwn: boolean;
  /** Why, or when, where the code alone does not say it. */
  note?: string;
};

const RESPONSES = '#/components/responses/';

const RETRY_AFTER: Header = {
  description: 'Seconds until another call is taken.',
  required: true,
  schema: { type: 'string', pattern: '^[0-9]+$' },
};

/** Responses of errors by name: each stands in the document once, and operations refer to it. */
export type ErrorResponses = {
  components: Record<string, Response>;
  /** The error answers of one operation, by status. */
  refsOf(operationId: string, errors: readonly DescribedError[]): Record<string, Reference>;
};

/**
 * A status with one code that reads alike on every route is named after the code (`ChargeNotFound`), any other after
 * its operation (`CreateCharge400`).
 */
export function createErrorResponses(schemas: DocumentSchemas): ErrorResponses {
  const components: Record<string, Response> = {};
  const refer = (name: string, response: Response): Reference => {
    if (components[name]) assert.deepEqual(response, components[name], `${name} has two forms`);
    components[name] = response;
    return { $ref: RESPONSES + name };
  };
  return {
    components,
    refsOf: (operationId, errors) => {
      const byStatus = Map.groupBy(errors, ({ code }) => ERROR_STATUS[code]);
      const entries = [...byStatus].toSorted(([one], [other]) => one - other);
      return Object.fromEntries(
        entries.map(([status, group]) => [
          status,
          refer(nameOf(operationId, status, group), buildErrorResponse(status, group, schemas)),
        ]),
      );
    },
  };
}

function nameOf(operationId: string, status: number, errors: readonly DescribedError[]): string {
  const [only, ...more] = errors;
  return only !== undefined && more.length === 0 && !only.isOwn
    ? toName(only.code.toLowerCase())
    : `${toName(operationId)}${status}`;
}

/** `charge_not_found` and `createCharge` as names of components. */
function toName(text: string): string {
  return text.replaceAll(/(?:^|_)(\w)/g, (_all, letter: string) => letter.toUpperCase());
}

/** One example for each code, by its name: they list the codes that the status may carry here. */
function buildErrorResponse(
  status: number,
  errors: readonly DescribedError[],
  schemas: DocumentSchemas,
): Response {
  const richest = errors.find(({ example }) => 'charge_id' in example) ?? errors[0];
  assert(richest !== undefined, `no code for ${status}`);
  const examples = errors.map(({ code, example }) => [
    code,
    {
      summary: ERRORS[code].title,
      value: { code, message: ERRORS[code].title, details: [], ...example },
    },
  ]);
  return {
    description: errors.map(describeError).join('\n'),
    headers: { ...EVERY_ANSWER, ...(status === 429 ? { 'Retry-After': RETRY_AFTER } : {}) },
    content: {
      'application/json': {
        schema: schemas.refTo(richest.schema),
        examples: Object.fromEntries(examples),
      },
    },
  };
}

function describeError({ code, note }: DescribedError): string {
  return `- \`${code}\`: ${note ?? ERRORS[code].title}`;
}
