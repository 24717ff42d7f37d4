import type { Logger } from '@pixmesh/telemetry/logger';

/** Never frees the certificate of a client that has connected: 4.5 KB a connection (ADR 0033). */
const LEAKING = '3.5.8';

/** Warns of a Node whose memory grows with each connection that it accepts with a certificate. */
export function warnOfOpenssl(logger: Logger, version = process.versions.openssl): void {
  if (version !== LEAKING) return;
  logger.warn({ openssl: version }, 'openssl leaks memory for each connection: use another Node');
}
