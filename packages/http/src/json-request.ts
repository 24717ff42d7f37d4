import { parseJsonBody } from '@pixmesh/kernel/json-body';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';

import { describeIssue, expectedBy, type Fault, invalidRequest } from './refusal.ts';
import { rawBody } from './service-app.ts';

/** A body that is no object of JSON, or one of which two readers could make different things. */
export const BODY_FAULT: Fault = { name: 'body', expected: 'one JSON object in UTF-8' };

const JSON_MEDIA_TYPE = /^application\/json\s*(;|$)/i;

/**
 * Reads the body of a request as one JSON object. No content coding is understood, and none is ever ignored.
 * @throws AppError `VALIDATION_ERROR` with `content-encoding`, `content-type` or `body`
 */
export function readJsonBody({
  body,
  headers,
}: Pick<FastifyRequest, 'body' | 'headers'>): Record<string, unknown> {
  const coding = headers['content-encoding']?.trim().toLowerCase();
  if (coding !== undefined && coding !== 'identity') {
    throw invalidRequest({
      name: 'content-encoding',
      expected: 'no content coding',
    });
  }
  return readJsonObject(rawBody(body), headers['content-type']);
}

/** The JSON body of a request, by its schema. @throws AppError `VALIDATION_ERROR` */
export function readBody<Schema extends z.ZodType>(
  schema: Schema,
  request: FastifyRequest,
): z.output<Schema> {
  return parseShape(schema, readJsonBody(request));
}

/**
 * Reads bytes as one JSON object. A missing media type is tolerated, another one is not (decision 2).
 * @throws AppError `VALIDATION_ERROR` with `content-type` or `body`
 */
export function readJsonObject(
  bytes: Uint8Array,
  contentType: string | undefined,
): Record<string, unknown> {
  if (contentType !== undefined && !JSON_MEDIA_TYPE.test(contentType.trim())) {
    throw invalidRequest({ name: 'content-type', expected: 'application/json' });
  }
  const body = parseJsonBody(bytes);
  if (body.kind === 'invalid') throw invalidRequest(BODY_FAULT);
  return body.value;
}

/**
 * Parses a value by its schema; every fault of shape is named in one answer, as dotted paths (decisions 10, 11).
 * @throws AppError `VALIDATION_ERROR`
 */
export function parseShape<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  /** The path as the caller knows it, where the schema wraps what was sent. */
  nameOf: (path: readonly PropertyKey[]) => readonly PropertyKey[] = (path) => path,
): z.output<Schema> {
  const result = schema.safeParse(value, { error: describeIssue });
  if (result.success) return result.data;
  const faults = result.error.issues.map((issue) => ({
    name: nameOf(issue.path).join('.') || 'body',
    expected: expectedBy(issue),
  }));
  throw invalidRequest(...faults);
}
