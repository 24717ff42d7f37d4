import { z } from 'zod';

/** More ids than this are refused, as at Efí. */
const IDS_MAX = 1_000;

/** Body of `POST /v2/gn/webhook/reenviar`. */
export const ResendBody = z.object({
  tipo: z.enum(['PIX_RECEBIDO', 'PIX_ENVIADO', 'DEVOLUCAO_RECEBIDA', 'DEVOLUCAO_ENVIADA']),
  e2eids: z.array(z.string().min(1).max(64)).min(1).max(IDS_MAX),
});
export type ResendBody = z.output<typeof ResendBody>;
