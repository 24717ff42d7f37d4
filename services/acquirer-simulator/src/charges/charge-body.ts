import { z } from 'zod';

import { Amount } from '#api-pix/amount.ts';
import { NOT_SIMULATED, notSimulated } from '#api-pix/not-simulated.ts';

/** `calendario.expiracao` where the body leaves it out (API Pix). */
const EXPIRES_IN_SECONDS_DEFAULT = 86_400;
const INT4_MAX = 2_147_483_647;

export const TxidParams = z.object({ txid: z.string().regex(/^[a-zA-Z0-9]{26,35}$/) });

/** `revisao` of a look-up. */
export const RevisionQuery = z.object({ revisao: z.coerce.number().int().min(0).optional() });

/** One of the two documents, and nothing of the other. */
const Debtor = z.union([
  z.object({ cpf: z.string().regex(/^\d{11}$/), cnpj: z.undefined().optional(), nome: name() }),
  z.object({
    cnpj: z.string().regex(/^[0-9A-Z]{14}$/),
    cpf: z.undefined().optional(),
    nome: name(),
  }),
]);

function name() {
  return z.string().max(200);
}

const AdditionalInfo = z.object({ nome: z.string().max(50), valor: z.string().max(200) });

/**
 * Body of `PUT /v2/cob/{txid}` (API Pix, CobSolicitada). What changes the meaning of a charge and is not simulated is
 * refused; fields that API Pix does not know are ignored.
 */
export const ChargeBody = z.object({
  calendario: z
    .object({ expiracao: z.int().min(1).max(INT4_MAX).default(EXPIRES_IN_SECONDS_DEFAULT) })
    .default({ expiracao: EXPIRES_IN_SECONDS_DEFAULT }),
  devedor: Debtor.optional(),
  loc: notSimulated(),
  valor: z.object({
    original: Amount,
    /** 0: the payer pays just that amount. */
    modalidadeAlteracao: z.literal(0, NOT_SIMULATED).optional(),
    retirada: notSimulated(),
  }),
  chave: z.string().max(77),
  solicitacaoPagador: z.string().max(140).optional(),
  infoAdicionais: z.array(AdditionalInfo).max(50).optional(),
});
export type ChargeBody = z.output<typeof ChargeBody>;

/** Body of `PATCH /v2/cob/{txid}`: the removal is the one revision that is simulated, and it comes alone. */
export const RemovalBody = z.strictObject({
  status: z.literal('REMOVIDA_PELO_USUARIO_RECEBEDOR'),
});
