import type { AcquirerDispute, CallOptions, DefenseOutcome, DefenseToSend } from './acquirer.ts';
import type { DisputeAnswer } from './answer-schemas.ts';
import type { CallAcquirer } from './call-acquirer.ts';

const STATUSES = {
  ABERTA: 'open',
  EM_DEFESA: 'under_review',
  ACEITA: 'accepted',
  REJEITADA: 'rejected',
  CANCELADA_EFI: 'canceled',
} as const;

/** What the merchant's word is called at the acquirer: the analysis that rejects the infraction. */
const REJECTING = 'rejeitado';

/** Contests a dispute. Where the outcome is unknown, the list shows whether a defense arrived. */
export async function submitDefense(
  call: CallAcquirer,
  input: DefenseToSend,
  options: CallOptions | undefined,
): Promise<DefenseOutcome> {
  const result = await call({
    operation: 'submitDefense',
    method: 'POST',
    path: `/v2/gn/infracoes/${encodeURIComponent(input.disputeId)}/defesa`,
    body: { analise: REJECTING, justificativa: input.text },
    options,
  });
  return result.kind === 'done' ? { kind: 'accepted' } : result;
}

export function toDispute(answer: DisputeAnswer): AcquirerDispute {
  const { dadosAnalise: analysis } = answer;
  return {
    id: answer.idInfracao,
    endToEndId: answer.endToEndId,
    amountCents: answer.valor,
    status: STATUSES[answer.status],
    // `razao` is the kind of the report at Efí.
    reason: answer.tipoSituacao || answer.razao,
    openedAt: analysis.abertura,
    deadlineAt: analysis.prazoFinalizacao ?? null,
    defenseReceivedAt: analysis.recebimentoDefesa ?? null,
    decidedAt: analysis.finalizacao ?? null,
  };
}
