import { answersOk } from '../http-call.ts';
import { StartupFailure } from '../startup-failure.ts';

const REQUEST_LIMIT_MS = 5_000;
const API = '/apis/ccompat/v7';
const CONTENT_TYPE = 'application/vnd.schemaregistry.v1+json';

/** Consumers deploy before producers: a new schema must read everything written before. */
const COMPATIBILITY = 'BACKWARD_TRANSITIVE';

export async function answersSubjects(origin: string): Promise<boolean> {
  return await answersOk(`${origin}${API}/subjects`, REQUEST_LIMIT_MS);
}

/** A fresh registry has compatibility NONE, and the client's first registration would throw. */
export async function setGlobalCompatibility(origin: string): Promise<void> {
  const response = await fetch(`${origin}${API}/config`, {
    method: 'PUT',
    headers: { 'content-type': CONTENT_TYPE },
    body: JSON.stringify({ compatibility: COMPATIBILITY }),
    signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
  });
  if (response.ok) return void (await response.arrayBuffer());
  throw new StartupFailure(
    `the registry refused compatibility ${COMPATIBILITY}: ${response.status} ${await response.text()}`,
  );
}
