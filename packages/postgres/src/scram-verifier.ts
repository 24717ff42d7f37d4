import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

/** As Postgres makes them itself (`scram_iterations`). */
const ITERATIONS = 4_096;
const SALT_BYTES = 16;
const KEY_BYTES = 32;

/**
 * What Postgres stores of a password (RFC 5803). A statement holds it in the place of the password, which then stands
 * in no log of statements.
 */
export function scramVerifier(password: string, salt: Buffer = randomBytes(SALT_BYTES)): string {
  // Clients normalize what they are given (RFC 4013). Of ASCII nothing changes.
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, ITERATIONS, KEY_BYTES, 'sha256');
  const keyOf = (name: string) => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  const serverKey = keyOf('Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
