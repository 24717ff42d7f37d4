import { z } from 'zod';

import { Amount } from '#api-pix/amount.ts';

/** `calendario.expiracao` where the body leaves it out (API Pix). */
const EXPIRES_IN_SECONDS_DEFAULT = 86_400;
const INT4_MAX = 2_147_483_647;

export const TxidParams = z.object({ txid: z.string().regex(/^[a-zA-Z0-9]{26,35}$/) });

const Debtor = z.union([
  z.object({ cpf: z.string().regex(/^\d{11}$/), nome: z.string().min(1).max(200) }),
  z.object({ cnpj: z.string().regex(/^[0-9A-Z]{14}$/), nome: z.string().min(1).max(200) }),
]);

const AdditionalInfo = z.object({ nome: z.string().max(50), valor: z.string().max(200) });

/** Body of `PUT /v2/cob/{txid}` (API Pix, CobSolicitada). Unknown fields are ignored. */
export const ChargeBody = z.object({
  calendario: z
    .object({ expiracao: z.int().min(1).max(INT4_MAX).default(EXPIRES_IN_SECONDS_DEFAULT) })
    .default({ expiracao: EXPIRES_IN_SECONDS_DEFAULT }),
  devedor: Debtor.nullish(),
  valor: z.object({ original: Amount, modalidadeAlteracao: z.literal([0, 1]).optional() }),
  chave: z.string().max(77),
  solicitacaoPagador: z.string().max(140).nullish(),
  infoAdicionais: z.array(AdditionalInfo).max(50).nullish(),
});
export type ChargeBody = z.output<typeof ChargeBody>;

/** Body of `PATCH /v2/cob/{txid}`: the removal is the one revision that is simulated. */
export const RemovalBody = z.object({ status: z.literal('REMOVIDA_PELO_USUARIO_RECEBEDOR') });
