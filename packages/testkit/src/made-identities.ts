import { type Authority, issueIdentity, makeAuthority } from '@pixmesh/certificates/authority';
import type { IdentityTexts } from '@pixmesh/certificates/mesh-identity';

const DAY_MS = 86_400_000;

/** An identity that a test exchanges. */
export type MadeIdentity = {
  readonly name: string;
  current(): IdentityTexts;
  onChange(listener: (texts: IdentityTexts) => void): void;
  replace(texts: IdentityTexts): void;
};

/** An authority of its own, for tests without infrastructure. */
export async function makeTestAuthority(): Promise<Authority> {
  return await makeAuthority('test', aDay());
}

/** Texts of a certificate that holds for a day from now on, or ends `endsInMs` from now. */
export async function issueTexts(
  authority: Authority,
  name: string,
  endsInMs: number = DAY_MS,
): Promise<IdentityTexts> {
  const validity = aDay(endsInMs);
  const request = { name, hosts: ['127.0.0.1', 'localhost'] };
  const { cert, key } = await issueIdentity(authority, request, validity);
  return { ca: authority.cert, cert, key };
}

export async function makeIdentity(authority: Authority, name: string): Promise<MadeIdentity> {
  let texts = await issueTexts(authority, name);
  const listeners: ((texts: IdentityTexts) => void)[] = [];
  return {
    name,
    current: () => texts,
    onChange: (listener) => void listeners.push(listener),
    replace: (next) => {
      texts = next;
      for (const listener of listeners) listener(texts);
    },
  };
}

/** In whole seconds, as certificates write times. */
function aDay(endsInMs: number = DAY_MS): { notBefore: Date; notAfter: Date } {
  const seconds = (ms: number): Date => new Date(Math.floor(ms / 1_000) * 1_000);
  return { notBefore: seconds(Date.now() - DAY_MS), notAfter: seconds(Date.now() + endsInMs) };
}
