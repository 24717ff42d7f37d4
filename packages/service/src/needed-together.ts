import type { GivenSettings, Problem } from './given-settings.ts';

const LOGIN = ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'];

/** Settings that the values of others ask for, wherever a schema names them. */
export function findMissing(names: readonly string[], given: GivenSettings): Problem[] {
  if (!names.includes('KAFKA_SECURITY')) return [];
  const { by, needed } = neededByKafka(given);
  return needed
    .filter((setting) => names.includes(setting) && given[setting] === undefined)
    .map((setting) => ({ setting, expected: `expected beside ${by}` }));
}

function neededByKafka(given: GivenSettings): { by: string; needed: string[] } {
  const { KAFKA_SECURITY: security = 'mtls', KAFKA_SASL_MECHANISM: by = '' } = given;
  if (security === 'mtls') return { by: 'KAFKA_SECURITY=mtls', needed: ['MESH_TLS_DIR'] };
  if (security !== 'tls' || by === '') return { by, needed: [] };
  return { by, needed: by === 'OAUTHBEARER' ? [...LOGIN, 'KAFKA_SASL_TOKEN_URL'] : LOGIN };
}
