/** A CPF (11 digits) or CNPJ (12 of `[0-9A-Z]` and 2 digits), unmasked and in upper case. */
export type Document = { kind: 'cpf' | 'cnpj'; number: string };

const CPF_LENGTH = 11;
const CNPJ_LENGTH = 14;

/**
 * Reads a CPF or a CNPJ, whichever its length says after unmasking, or returns null when it is
 * neither or a check digit is wrong (decision 99).
 */
export function normalizeDocument(input: string): Document | null {
  const text = unmask(input);
  if (text.length === CPF_LENGTH && isCpf(text)) return { kind: 'cpf', number: text };
  if (text.length === CNPJ_LENGTH && isCnpj(text)) return { kind: 'cnpj', number: text };
  return null;
}

/** Reads a CPF with or without mask and returns its 11 digits, or null when it is none. */
export function normalizeCpf(input: string): string | null {
  const document = normalizeDocument(input);
  return document?.kind === 'cpf' ? document.number : null;
}

/**
 * Reads a numeric or alphanumeric CNPJ (IN RFB 2229/2024), masked or not and in any case, and
 * returns its 14 characters in upper case, or null when it is none.
 */
export function normalizeCnpj(input: string): string | null {
  const document = normalizeDocument(input);
  return document?.kind === 'cnpj' ? document.number : null;
}

/**
 * Mask characters go wherever they stand. Letters are raised one ASCII letter at a time, because
 * a Unicode function would also turn U+017F into S and U+0131 into I.
 */
function unmask(input: string): string {
  return input.replace(/[./ -]/g, '').replace(/[a-z]/g, (letter) => letter.toUpperCase());
}

/** Eleven equal digits satisfy mod 11, yet are never issued. */
function isCpf(text: string): boolean {
  return /^[0-9]{11}$/.test(text) && !/^(.)\1{10}$/.test(text) && hasCheckDigits(text, 11);
}

/** Fourteen zeros satisfy mod 11, yet are never issued; other repeated digits fail by themselves. */
function isCnpj(text: string): boolean {
  return /^[0-9A-Z]{12}[0-9]{2}$/.test(text) && !/^0{14}$/.test(text) && hasCheckDigits(text, 9);
}

function hasCheckDigits(text: string, weightMax: number): boolean {
  const first = checkDigit(text.slice(0, -2), weightMax);
  const second = checkDigit(text.slice(0, -1), weightMax);
  return text.endsWith(`${first}${second}`);
}

/**
 * Mod 11 over ASCII - 48 (so `A` counts 17), with weights from the right that run from 2 to
 * `weightMax` and start again. The second digit is computed over the first as well.
 */
function checkDigit(text: string, weightMax: number): number {
  let sum = 0;
  let weight = 2;
  for (let index = text.length - 1; index >= 0; index -= 1) {
    sum += (text.charCodeAt(index) - 48) * weight;
    weight = weight === weightMax ? 2 : weight + 1;
  }
  const remainder = sum % 11;
  return remainder < 2 ? 0 : 11 - remainder;
}
