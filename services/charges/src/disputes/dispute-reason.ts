import { DisputeReason } from '@pixmesh/contracts/http/dispute';
import type { z } from 'zod';

/** What Efí calls the situation of a dispute (`tipoSituacao`), without its accents. */
const SITUATIONS: ReadonlyMap<string, z.infer<typeof DisputeReason>> = new Map([
  ['golpe', 'scam'],
  ['aquisicao da conta', 'account_takeover'],
  ['coercao', 'coercion'],
  ['acesso fraudulento', 'fraudulent_access'],
]);

/** Why the payer contests, in the product's vocabulary (decision 192). */
export function readReason(word: string): z.infer<typeof DisputeReason> {
  const plain = word.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const known = DisputeReason.safeParse(plain);
  return known.success ? known.data : (SITUATIONS.get(plain) ?? 'other');
}
