import { isDeepStrictEqual } from 'node:util';

import type { OpenApiDocument, Operation } from '../../src/openapi/document.ts';

type Releases = { before: OpenApiDocument; after: OpenApiDocument };

/** What one way of calling needs: schemes by what they are, not by their names, each with its scopes. */
type Demands = { scheme: object; scopes: readonly string[] }[];

/** Clients keep the address that they were written for: what was served there has to stay there. */
export function compareServers({ before, after }: Releases): string[] {
  const now = addressesOf(after);
  return addressesOf(before)
    .filter((address) => !now.includes(address))
    .map((address) => `servers: ${address} removed`);
}

/** Whoever was let in by what it sends is let in by the same; that nothing is needed any more breaks nobody. */
export function compareSecurity(
  { before, after }: Releases,
  { was, is, place }: { was: Operation; is: Operation; place: string },
): string[] {
  const ways = waysOf(is, after);
  const isKept = (way: Demands) => ways.some((next) => next.every((one) => isMet(one, way)));
  return waysOf(was, before).every(isKept) ? [] : [`${place}: other credentials needed now`];
}

/** Left out means the origin that serves the document (OpenAPI 3.1, Server Object). */
function addressesOf({ servers = [] }: OpenApiDocument): string[] {
  const urls = servers.length === 0 ? ['/'] : servers.map(({ url }) => url);
  return urls.map((url) => url.replace(/(?<=.)\/+$/, ''));
}

/** The alternatives of an operation, of which a call meets one; an empty list needs nothing. */
function waysOf({ security }: Operation, document: OpenApiDocument): Demands[] {
  const alternatives = security ?? document.security ?? [];
  if (alternatives.length === 0) return [[]];
  return alternatives.map((alternative) =>
    Object.entries(alternative).map(([name, scopes]) => ({
      scheme: essenceOf(document.components.securitySchemes[name] ?? { unknown: name }),
      scopes,
    })),
  );
}

/** A scheme without its texts; names of headers and of HTTP schemes are compared in lower case. */
function essenceOf(scheme: object): object {
  const { description: _text, bearerFormat: _hint, ...rest } = scheme as Record<string, unknown>;
  const { name, in: place, scheme: method } = rest;
  return {
    ...rest,
    ...(place === 'header' && typeof name === 'string' ? { name: name.toLowerCase() } : {}),
    ...(typeof method === 'string' ? { scheme: method.toLowerCase() } : {}),
  };
}

function isMet(demand: Demands[number], way: Demands): boolean {
  return way.some(
    ({ scheme, scopes }) =>
      isDeepStrictEqual(scheme, demand.scheme) &&
      demand.scopes.every((scope) => scopes.includes(scope)),
  );
}
