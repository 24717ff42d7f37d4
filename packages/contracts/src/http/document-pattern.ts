/**
 * The form of a CPF or CNPJ, masked or not, as JSON Schema can say it: mask characters wherever they stand, and
 * between them 11 digits or the 14 characters of a CNPJ. Check digits are beyond a pattern (decision 99).
 */
export const DOCUMENT_PATTERN =
  '^[./ -]*(?:(?:[0-9][./ -]*){11}|(?:[0-9A-Za-z][./ -]*){12}(?:[0-9][./ -]*){2})$';
