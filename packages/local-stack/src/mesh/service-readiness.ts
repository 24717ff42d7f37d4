import { hostname } from 'node:os';
import { answersOk, readOk } from '../http-call.ts';

const REQUEST_LIMIT_MS = 3_000;

/** Whether the process that answers at this internal listener is ready, and has this pid: another one may hold the port. */
export async function isServiceReady(internalOrigin: string, pid: number): Promise<boolean> {
  if (!(await answersOk(`${internalOrigin}/readyz`, REQUEST_LIMIT_MS))) return false;
  const metrics = await readOk(`${internalOrigin}/metrics`, REQUEST_LIMIT_MS);
  return metrics?.includes(`service_instance_id="${hostname()}:${pid}"`) ?? false;
}
