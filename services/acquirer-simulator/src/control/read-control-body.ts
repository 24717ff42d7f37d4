import { parseShape, readJsonObject } from '@pixmesh/http/json-request';
import { rawBody } from '@pixmesh/http/service-app';
import type { z } from 'zod';

/**
 * Reads a body of the control APIs; an empty one is `{}`. The media type is not asked for, so that a bare
 * `curl -d` works.
 * @throws AppError `VALIDATION_ERROR` that names every broken field
 */
export function readControlBody<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
): z.output<Schema> {
  const bytes = rawBody(body);
  return parseShape(schema, bytes.length === 0 ? {} : readJsonObject(bytes, undefined));
}
