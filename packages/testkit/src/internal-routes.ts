import type { IdentityTexts } from '@pixmesh/certificates/mesh-identity';
import type { Claims } from '@pixmesh/contracts/internal/caller-claims';
import { encodeClaims } from '@pixmesh/contracts/internal/claims-header';
import { INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import { IdentityName } from '@pixmesh/contracts/internal/identities';
import {
  INTERNAL_ROUTES,
  type InternalRoute,
  type OwnerName,
} from '@pixmesh/contracts/internal/internal-routes';
import { newId } from '@pixmesh/kernel/ids';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  issueTexts,
  makeIdentity,
  type MadeIdentity,
  makeTestAuthority,
} from './made-identities.ts';
import { fetchAs } from './mesh-calls.ts';
import { aCaller, anOperator } from './test-callers.ts';

const REFUSED = '403 CALLER_NOT_ALLOWED';
/** A status that no route answers. */
const PASSED = 418;
/** Hundreds of calls and keys, on a machine that is busy with other suites. */
const PATIENCE_MS = 180_000;

/**
 * Calls every internal route of an owner with the certificate of everybody in the mesh, a foreign one and none: the
 * table says who comes in. Who does is answered in front of the routes, so that nothing needs to stand behind them.
 */
export function expectGuardedRoutes(
  owner: OwnerName,
  open: (identity: MadeIdentity) => FastifyInstance,
): void {
  const routes = INTERNAL_ROUTES[owner];
  let mesh: Mesh;

  beforeAll(async () => {
    mesh = await openMesh(owner, open);
  }, PATIENCE_MS);
  afterAll(async () => {
    await mesh.listener.close();
  });

  describe(`the internal routes of ${owner}`, { timeout: PATIENCE_MS }, () => {
    test('are those of the table', () => {
      const missing = routes.filter(
        ({ method, path }) => !mesh.listener.hasRoute({ method, url: path }),
      );
      expect(missing).toEqual([]);
    });

    test.each(IdentityName.options)('let %s in where the table names it', async (name) => {
      const answers = await callAll(name, (route) => (name === 'gateway' ? claimsOf(route) : null));
      expect(answers).toEqual(routes.map((route) => [nameOf(route), isNamed(route, name)]));
    });

    test.each(IdentityName.options.filter((name) => name !== 'gateway'))(
      'refuse what the gateway asks for, when %s repeats it',
      async (name) => {
        const answers = await callAll(name, claimsOf);
        const isOwnCall = (route: InternalRoute) =>
          claimsOf(route) === null && isNamed(route, name);
        expect(answers).toEqual(routes.map((route) => [nameOf(route), isOwnCall(route)]));
      },
    );

    test('refuse the gateway where it says nothing of whom it calls for', async () => {
      const silent = routes.filter(({ callers, claims }) => {
        return callers.includes('gateway') && claims !== 'none';
      });
      for (const route of silent) {
        expect(await answerOf('gateway', route, null)).toBe('401 UNAUTHORIZED');
      }
    });

    test('let nobody in with a foreign certificate, nor without one', async () => {
      const foreign = await issueTexts(await makeTestAuthority(), 'gateway');
      const { ca } = mesh;
      for (const own of [{ ...foreign, ca }, { ca }]) {
        const calls = routes.map((route) =>
          fetchAs(own, owner, requestOf(mesh.url, route, claimsOf(route))),
        );
        const outcomes = await Promise.allSettled(calls);
        expect(outcomes.filter(({ status }) => status === 'fulfilled')).toEqual([]);
      }
    });
  });

  async function callAll(name: IdentityName, claimsFor: (route: InternalRoute) => Claims | null) {
    const answers: [string, boolean][] = [];
    // One after the other, by one connection.
    for (const route of routes) {
      const answer = await answerOf(name, route, claimsFor(route));
      expect([REFUSED, `${PASSED} undefined`]).toContain(answer);
      answers.push([nameOf(route), answer !== REFUSED]);
    }
    return answers;
  }

  async function answerOf(name: string, route: InternalRoute, claims: Claims | null) {
    const identity = mesh.certificates.get(name);
    if (identity === undefined) throw new Error(`${name} has no certificate`);
    const answer = await fetchAs(identity, owner, requestOf(mesh.url, route, claims));
    const text = await answer.text();
    const { code } = (text === '' ? {} : JSON.parse(text)) as { code?: string };
    return `${answer.status} ${code}`;
  }
}

type Mesh = {
  listener: FastifyInstance;
  url: string;
  ca: string;
  certificates: ReadonlyMap<string, IdentityTexts>;
};

async function openMesh(
  owner: OwnerName,
  open: (identity: MadeIdentity) => FastifyInstance,
): Promise<Mesh> {
  const authority = await makeTestAuthority();
  const certificates = new Map<string, IdentityTexts>();
  for (const name of IdentityName.options) {
    certificates.set(name, await issueTexts(authority, name));
  }
  const listener = open(await makeIdentity(authority, owner));
  listener.addHook('preHandler', async (_request, reply) => reply.code(PASSED).send({}));
  const url = await listener.listen({ host: '127.0.0.1', port: 0 });
  return { listener, url, ca: authority.cert, certificates };
}

function requestOf(origin: string, { method, path }: InternalRoute, claims: Claims | null) {
  return {
    url: origin + path.replaceAll(/:\w+/g, newId()),
    method,
    headers: {
      ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
      ...(claims === null ? {} : { [INTERNAL_HEADERS.claims]: encodeClaims(claims) }),
    },
    body: method === 'GET' ? null : '{}',
  };
}

function claimsOf({ claims, callers }: InternalRoute): Claims | null {
  if (claims === 'none' || !callers.includes('gateway')) return null;
  return claims === 'tenant' ? { tenant: aCaller() } : anOperator();
}

function nameOf({ method, path }: InternalRoute): string {
  return `${method} ${path}`;
}

function isNamed({ callers }: InternalRoute, name: IdentityName): boolean {
  return callers.includes(name);
}
