import type { Lookup } from './acquirer.ts';
import { type AcquirerCall, type CallAcquirer, UNREADABLE } from './call-acquirer.ts';

type LookUp<T> = Pick<AcquirerCall, 'operation' | 'path' | 'options'> & {
  /** Null for an answer that cannot be read or speaks of something else. */
  read: (body: unknown) => T | null;
};

/** Reads one thing at the acquirer by an id of it. */
export async function lookUp<T>(call: CallAcquirer, request: LookUp<T>): Promise<Lookup<T>> {
  const { read, ...rest } = request;
  const result = await call({ ...rest, method: 'GET' });
  if (result.kind === 'refused') return UNREADABLE;
  if (result.kind !== 'done') return result;
  const value = read(result.body);
  return value === null ? UNREADABLE : { kind: 'found', value };
}
