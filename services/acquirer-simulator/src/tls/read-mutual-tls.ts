import { fixedTls, type MutualTls } from '@pixmesh/http/service-app';

/** The second listener: where it listens, its certificate, and the authority of its clients' certificates. */
export type TlsListener = MutualTls & { port: number };

const NAMES = ['TLS_PORT', 'TLS_CERT', 'TLS_KEY', 'TLS_CA'] as const;

export type TlsSettings = { TLS_PORT?: number | undefined } & {
  [Name in 'TLS_CERT' | 'TLS_KEY' | 'TLS_CA']?: string | undefined;
};

/** Variables that are missing beside those that are set: the four belong together. */
export function missingTlsSettings(settings: TlsSettings): (typeof NAMES)[number][] {
  const missing = NAMES.filter((name) => settings[name] === undefined);
  return missing.length === NAMES.length ? [] : missing;
}

/** Null where the listener is not wanted. */
export function readMutualTls(settings: TlsSettings): TlsListener | null {
  const { TLS_PORT: port, TLS_CERT: cert, TLS_KEY: key, TLS_CA: ca } = settings;
  if (port === undefined || cert === undefined || key === undefined || ca === undefined) {
    return null;
  }
  return { port, ...fixedTls({ ca, cert, key }) };
}
