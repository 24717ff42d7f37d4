import type { SendBody } from './send-body.ts';

const NAME = 'FAVORECIDO SIMULADO';
/** Shown where the order names no document: nobody's. */
const CPF = '12345678909';

/** `favorecido` of an answer: whom the key belongs to, a CPF masked as providers show it. */
export function toRecipient(recipient: SendBody['favorecido']): object {
  const { chave, cpf, cnpj } = recipient;
  const document = cnpj ? { cnpj } : { cpf: maskCpf(cpf ?? CPF) };
  return { chave, identificacao: { nome: NAME, ...document } };
}

function maskCpf(cpf: string): string {
  return `***.${cpf.slice(3, 6)}.${cpf.slice(6, 9)}-**`;
}
