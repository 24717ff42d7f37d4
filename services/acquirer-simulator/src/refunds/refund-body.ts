import { z } from 'zod';

import { Amount } from '#api-pix/amount.ts';

export const RefundParams = z.object({
  e2eid: z.string().max(64),
  id: z.string().regex(/^[a-zA-Z0-9]{1,35}$/),
});

/**
 * Body of `PUT /v2/pix/{e2eid}/devolucao/{id}` (API Pix, DevolucaoSolicitada). No Pix here is a withdrawal, so none of
 * its cash can go back. Unknown fields are ignored.
 */
export const RefundBody = z.object({
  valor: Amount,
  natureza: z.literal('ORIGINAL').default('ORIGINAL'),
  descricao: z.string().max(140).optional(),
});
export type RefundBody = z.output<typeof RefundBody>;
