import { normalizeCnpj, normalizeCpf } from './documents.ts';
import { parseId } from './ids.ts';

/** The public words for the types of Pix key (specification, `POST /v1/payouts`). */
export type PixKeyType = 'cpf' | 'cnpj' | 'email' | 'phone' | 'random';

/** Longest key of the directory; a longer text is none, however it is masked. */
export const KEY_LENGTH_MAX = 77;

const NORMALIZERS: Readonly<Record<PixKeyType, (text: string) => string | null>> = {
  cpf: normalizeCpf,
  cnpj: normalizeCnpj,
  email: normalizeEmail,
  phone: normalizePhone,
  // A UUID of any version, with its hyphens and in any case (decision 106).
  random: parseId,
};

/**
 * Reads a Pix key of a given type and returns the form that the directory knows and the acquirer is sent, or null
 * when the text is no key of that type (decisions 106 to 109). The type is never guessed: eleven digits are a CPF
 * or a phone number, as the caller says. What the caller wrote is stored beside it, for answers.
 */
export function normalizePixKey(type: PixKeyType, text: string): string | null {
  return text.length > KEY_LENGTH_MAX ? null : NORMALIZERS[type](text);
}

/**
 * The directory's own pattern (DICT API): ASCII only, domain labels of at most 63 with hyphens inside. It takes
 * lower case, so letters are lowered first, one ASCII letter at a time: a Unicode function would turn U+212A into k.
 */
const EMAIL =
  /^[a-z0-9.!#$&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

function normalizeEmail(text: string): string | null {
  const lower = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return EMAIL.test(lower) ? lower : null;
}

/** E.164: up to 15 digits, of which the first is never 0. */
const INTERNATIONAL = /^\+[1-9][0-9]{1,14}$/;
/** Brazil's country code without its plus, then area code and number. */
const WITH_COUNTRY_CODE = /^55([1-9][0-9]{9,10})$/;
/** Area code and number. A leading 0 is the trunk prefix of a dialled number, no part of it. */
const NATIONAL = /^[1-9][0-9]{9,10}$/;

/** Any country with a plus, Brazil without it too; length tells 55 the country from 55 the area code (decision 107). */
function normalizePhone(text: string): string | null {
  const bare = text.replace(/[() -]/g, '');
  if (INTERNATIONAL.test(bare)) return bare;
  if (NATIONAL.test(bare)) return `+55${bare}`;
  return WITH_COUNTRY_CODE.test(bare) ? `+${bare}` : null;
}
