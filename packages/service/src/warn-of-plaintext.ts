import type { Logger } from '@pixmesh/telemetry/logger';

/** At every start in production, so that what was allowed once is not forgotten (decision 260). */
export function warnOfPlaintext(
  logger: Logger,
  config: { NODE_ENV: string; PIXMESH_ALLOW_PLAINTEXT?: readonly string[] | undefined },
): void {
  const { NODE_ENV, PIXMESH_ALLOW_PLAINTEXT: plaintext } = config;
  if (NODE_ENV !== 'production' || plaintext === undefined) return;
  logger.warn({ plaintext }, 'connections without TLS are allowed by PIXMESH_ALLOW_PLAINTEXT');
}
