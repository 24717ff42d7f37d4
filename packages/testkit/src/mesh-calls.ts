import { createSecureContext } from 'node:tls';

import { type IdentityTexts, readIdentity } from '@pixmesh/certificates/mesh-identity';
import type { IdentityName, ServiceName } from '@pixmesh/contracts/internal/identities';
import type { OwnerName } from '@pixmesh/contracts/internal/internal-routes';
import { Agent, fetch, type RequestInit, type Response } from 'undici';

import { type AskedCall, callByTable } from './test-callers.ts';
import { testIdentityFolder } from './test-infra.ts';

/** Idle connections of a test end by themselves. */
const KEEP_ALIVE_MS = 500;

/** Hundreds of handshakes at once, on a machine that is busy with other suites. */
const CONNECT_TIMEOUT_MS = 60_000;

const agents = new Map<string, Agent>();

/** The identity that the run's authority has issued, as an identity that is followed. */
export function testIdentity(name: IdentityName) {
  const texts = readIdentity(testIdentityFolder(name));
  return { name, current: () => texts, onChange: () => undefined };
}

/** For a stand-in of a service: what it serves with, and whom it takes. */
export function serverTlsOf(name: IdentityName) {
  return { ...testIdentity(name).current(), requestCert: true, rejectUnauthorized: true };
}

/** A call of an owner over the wire, as the table of internal routes says that it is made. */
export async function callOwner(
  target: { owner: OwnerName; url: string },
  asked: AskedCall & { headers?: Record<string, string> | undefined },
): Promise<Response> {
  const { method, path, as, headers, body } = callByTable(target.owner, asked);
  const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
  return await fetchAs(testIdentity(as).current(), target.owner, {
    url: target.url + path,
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...asked.headers,
      ...headers,
    },
    body: isRaw ? body : (JSON.stringify(body) ?? null),
  });
}

/** Any call, by any certificate or without one, of a service that has to prove that it is `service`. */
export async function fetchAs(
  identity: Pick<IdentityTexts, 'ca'> & Partial<IdentityTexts>,
  service: ServiceName,
  { url, ...init }: RequestInit & { url: string },
): Promise<Response> {
  return await fetch(url, { ...init, dispatcher: agentOf(identity, service) });
}

/** Arms failpoints of one process, as tools. @throws Error with the status and the body when it is refused */
export async function armFailpointsAt(
  service: ServiceName,
  url: string,
  actions: Record<string, 'kill' | 'hang' | 'error'>,
): Promise<void> {
  const body = JSON.stringify(actions);
  const call = { url: `${url}/failpoints`, method: 'PUT', body };
  const answer = await fetchAs(testIdentity('tools').current(), service, call);
  if (answer.status !== 204) throw new Error(`${answer.status} ${await answer.text()}`);
}

function agentOf(
  { ca, cert, key }: Pick<IdentityTexts, 'ca'> & Partial<IdentityTexts>,
  servername: string,
): Agent {
  const name = `${servername} ${cert} ${ca}`;
  const known = agents.get(name);
  if (known !== undefined) return known;
  const own = cert === undefined || key === undefined ? {} : { cert, key };
  const agent = new Agent({
    connect: { secureContext: createSecureContext({ ca, ...own }), servername },
    connectTimeout: CONNECT_TIMEOUT_MS,
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  });
  agents.set(name, agent);
  return agent;
}
