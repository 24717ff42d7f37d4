import type { Edge } from '#edge/guard-listener.ts';

/** An edge as it is where nothing about it is configured. */
export const OPEN_EDGE: Edge = {
  isTrusted: () => false,
  connectionsPerAddressMax: 1_000,
  hstsMaxAgeSeconds: null,
  origins: new Set(),
};
