import { z } from 'zod';

import { Amount } from '#api-pix/amount.ts';
import { notSimulated } from '#api-pix/not-simulated.ts';

export const IdEnvioParams = z.object({ idEnvio: z.string().regex(/^[a-zA-Z0-9]{1,35}$/) });

const Key = z.string().min(1).max(77);

const Recipient = {
  chave: Key,
  contaBanco: notSimulated(),
  cpf: z
    .string()
    .regex(/^\d{11}$/)
    .nullish(),
  cnpj: z
    .string()
    .regex(/^[0-9A-Z]{14}$/)
    .nullish(),
};

/** Body of `PUT /v3/gn/pix/{idEnvio}` by Pix key; bank details are not simulated. Unknown fields are ignored. */
export const SendBody = z.object({
  valor: Amount,
  pagador: z.object({ chave: Key, infoPagador: z.string().max(140).nullish() }),
  favorecido: z
    .object(Recipient)
    .refine(({ cpf, cnpj }) => !(cpf && cnpj), { message: 'cpf ou cnpj', path: ['cpf'] }),
});
export type SendBody = z.output<typeof SendBody>;
