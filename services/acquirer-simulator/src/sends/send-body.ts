import { z } from 'zod';

import { Amount } from '#api-pix/amount.ts';

export const IdEnvioParams = z.object({ idEnvio: z.string().regex(/^[a-zA-Z0-9]{1,35}$/) });

const Key = z.string().min(1).max(77);

/** Body of `PUT /v3/gn/pix/{idEnvio}` by Pix key; bank details are not simulated. Unknown fields are ignored. */
export const SendBody = z.object({
  valor: Amount,
  pagador: z.object({ chave: Key, infoPagador: z.string().max(140).nullish() }),
  favorecido: z.object({
    chave: Key,
    cpf: z
      .string()
      .regex(/^\d{11}$/)
      .nullish(),
    cnpj: z
      .string()
      .regex(/^[0-9A-Z]{14}$/)
      .nullish(),
  }),
});
export type SendBody = z.output<typeof SendBody>;
