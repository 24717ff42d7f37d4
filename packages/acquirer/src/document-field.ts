const CPF_LENGTH = 11;

/** A CPF or CNPJ under the name that API Pix gives it. */
export function documentField(document: string): { cpf: string } | { cnpj: string } {
  return document.length === CPF_LENGTH ? { cpf: document } : { cnpj: document };
}
