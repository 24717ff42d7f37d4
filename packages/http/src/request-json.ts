import { AppError } from '@pixmesh/kernel/app-error';
import type { z } from 'zod';

import { deadlineIn } from './deadline.ts';
import type { InternalClient } from './internal-client.ts';

const CALL_TIMEOUT_MS = 10_000;

/**
 * A call of one service's job to another, for the installation: it names no tenant.
 *
 * @param call `service`, as the error names it; `route` such as `GET /internal/totals`
 * @throws AppError `DEPENDENCY_UNAVAILABLE` for whatever is not the answer of the contract: nothing was read
 */
export async function requestJson<Schema extends z.ZodType>(
  client: InternalClient,
  schema: Schema,
  call: { service: string; route: string; body?: object | undefined },
): Promise<z.output<Schema>> {
  const [method = 'GET', path = ''] = call.route.split(' ');
  const answer = await client.request({
    method,
    path,
    claims: null,
    deadline: deadlineIn(CALL_TIMEOUT_MS),
    ...(call.body && {
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(call.body)),
    }),
  });
  const parsed = answer.status === 200 ? schema.safeParse(readJson(answer.body)) : null;
  if (parsed?.success) return parsed.data;
  throw new AppError('DEPENDENCY_UNAVAILABLE', {
    message: `${call.service} answered ${answer.status} to ${path.split('?')[0]}`,
    cause: parsed?.error,
  });
}

function readJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
