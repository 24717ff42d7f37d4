import { z } from 'zod';

/** A filter that is `true` or `false`. */
export const Flag = z.enum(['true', 'false']).transform((text) => text === 'true');

/** Filters by somebody's document; API Pix takes one of them at a time. */
export const DOCUMENT_FILTERS = {
  cpf: z
    .string()
    .regex(/^\d{11}$/)
    .optional(),
  cnpj: z
    .string()
    .regex(/^[0-9A-Z]{14}$/)
    .optional(),
};

export function hasOneDocument(query: {
  cpf?: string | undefined;
  cnpj?: string | undefined;
}): boolean {
  return query.cpf === undefined || query.cnpj === undefined;
}

/** Of a query with both documents. */
export const BOTH_DOCUMENTS = {
  message: 'cpf e cnpj não podem ser utilizados ao mesmo tempo',
  path: ['cpf'],
};
