import { readFileSync } from 'node:fs';

import { type IdentityTexts, readIdentity } from '@pixmesh/certificates/mesh-identity';
import { ConfigError } from '@pixmesh/service/config';
import type { SASLOptions } from 'kafkajs';

import { createTokenProvider } from './oauth-token.ts';

/** How a client proves who it is, and by what it knows the broker. */
export type KafkaSecurity =
  /** Read at each connection, so that a certificate that was renewed needs no restart. */
  | { kind: 'mtls'; identity: { current(): IdentityTexts }; sasl?: undefined }
  /** `ca`: PEM text; where it is undefined, the authorities that Node knows. */
  | { kind: 'tls'; ca: string | undefined; sasl: SASLOptions | undefined }
  | { kind: 'plaintext'; sasl?: undefined };

/** Where the brokers are, and how they are spoken to. */
export type BrokerAccess = { brokers: readonly string[]; security: KafkaSecurity };

/** As `KafkaConfig` reads them. */
type Settings = {
  KAFKA_BROKERS: readonly string[];
  KAFKA_SECURITY: KafkaSecurity['kind'];
  KAFKA_TLS_CA?: string | undefined;
  KAFKA_SASL_MECHANISM?: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512' | 'OAUTHBEARER' | undefined;
  KAFKA_SASL_USERNAME?: string | undefined;
  KAFKA_SASL_PASSWORD?: string | undefined;
  KAFKA_SASL_TOKEN_URL?: string | undefined;
  KAFKA_SASL_SCOPE?: string | undefined;
};

/**
 * The way to the broker that the settings describe.
 * @throws ConfigError where one of them is missing beside another
 */
export function brokerAccess(
  config: Settings,
  identity: { current(): IdentityTexts },
): BrokerAccess {
  return { brokers: config.KAFKA_BROKERS, security: securityOf(config, identity) };
}

function securityOf(config: Settings, identity: { current(): IdentityTexts }): KafkaSecurity {
  const { KAFKA_SECURITY: kind, KAFKA_TLS_CA: ca } = config;
  if (kind === 'mtls') return { kind, identity };
  return kind === 'tls' ? { kind, ca, sasl: saslOf(config) } : { kind };
}

function saslOf(config: Settings): SASLOptions | undefined {
  const { KAFKA_SASL_MECHANISM: mechanism } = config;
  if (mechanism === undefined) return undefined;
  const username = given('KAFKA_SASL_USERNAME', config.KAFKA_SASL_USERNAME);
  const password = given('KAFKA_SASL_PASSWORD', config.KAFKA_SASL_PASSWORD);
  if (mechanism === 'PLAIN') return { mechanism: 'plain', username, password };
  if (mechanism === 'SCRAM-SHA-256') return { mechanism: 'scram-sha-256', username, password };
  if (mechanism === 'SCRAM-SHA-512') return { mechanism: 'scram-sha-512', username, password };
  const tokenUrl = given('KAFKA_SASL_TOKEN_URL', config.KAFKA_SASL_TOKEN_URL);
  const client = { id: username, secret: password, scope: config.KAFKA_SASL_SCOPE };
  return { mechanism: 'oauthbearer', oauthBearerProvider: createTokenProvider(tokenUrl, client) };

  function given(name: string, value: string | undefined): string {
    if (value === undefined) throw new ConfigError(`${name}: expected beside ${mechanism}`);
    return value;
  }
}

/** For tools and tests, which live shorter than a certificate: the identity of a folder. */
export function accessOfFolder(brokers: readonly string[], folder: string): BrokerAccess {
  const texts = readIdentity(folder);
  return { brokers, security: { kind: 'mtls', identity: { current: () => texts } } };
}

/** The same by the paths that `stack.json` names; plain where it names none. */
export function accessOfFiles(
  brokers: readonly string[],
  files: { ca: string; cert: string; key: string } | undefined,
): BrokerAccess {
  if (files === undefined) return { brokers, security: { kind: 'plaintext' } };
  const [ca = '', cert = '', key = ''] = [files.ca, files.cert, files.key].map((path) =>
    readFileSync(path, 'utf8'),
  );
  return { brokers, security: { kind: 'mtls', identity: { current: () => ({ ca, cert, key }) } } };
}
