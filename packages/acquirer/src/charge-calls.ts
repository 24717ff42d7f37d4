import type {
  AcquirerCharge,
  CallOptions,
  CancelOutcome,
  ChargeToIssue,
  IssueOutcome,
  Lookup,
} from './acquirer.ts';
import { formatAmountText } from './amount-text.ts';
import { type AcquirerCall, type CallAcquirer, FOREIGN_CODE, UNREADABLE } from './call-acquirer.ts';
import { documentField } from './document-field.ts';
import { leadsElsewhere } from './foreign-code.ts';
import { lookUp } from './look-up.ts';
import type { Operation } from './outcome-rules.ts';
import { readCharge } from './read-answer.ts';

/**
 * Creates the charge under our own txid. The PUT is no portable idempotent create: Efí answers 409 to a
 * second one, other providers alter the charge, so after any doubt `getCharge` decides.
 */
export async function issueCharge(
  deps: { call: CallAcquirer; pixKey: string },
  input: ChargeToIssue,
  options: CallOptions | undefined,
): Promise<IssueOutcome> {
  const result = await deps.call({
    ...chargeCall('issueCharge', 'PUT', input.txid),
    body: chargeBody(input, deps.pixKey),
    options,
  });
  if (result.kind === 'not_found') return UNREADABLE;
  if (result.kind !== 'done') return result;
  const charge = readCharge(result.body, input.txid);
  if (charge === null) return UNREADABLE;
  return leadsElsewhere(charge) ? FOREIGN_CODE : { kind: 'issued', charge };
}

export async function getCharge(
  call: CallAcquirer,
  txid: string,
  options: CallOptions | undefined,
): Promise<Lookup<AcquirerCharge>> {
  const found = await lookUp(call, {
    ...chargeCall('getCharge', 'GET', txid),
    read: (body) => readCharge(body, txid),
    options,
  });
  return found.kind === 'found' && leadsElsewhere(found.value) ? FOREIGN_CODE : found;
}

/** The acquirer arbitrates between a removal and a payment: only a removed charge in its answer counts. */
export async function cancelCharge(
  call: CallAcquirer,
  txid: string,
  options: CallOptions | undefined,
): Promise<CancelOutcome> {
  const result = await call({
    ...chargeCall('cancelCharge', 'PATCH', txid),
    body: { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' },
    options,
  });
  if (result.kind !== 'done') return result;
  const charge = readCharge(result.body, txid);
  return charge?.status === 'removed_by_receiver' ? { kind: 'canceled', charge } : UNREADABLE;
}

function chargeCall(operation: Operation, method: AcquirerCall['method'], txid: string) {
  return { operation, method, path: `/v2/cob/${encodeURIComponent(txid)}` };
}

function chargeBody(input: ChargeToIssue, pixKey: string): object {
  const { name, document } = input.debtor;
  return {
    calendario: { expiracao: input.expiresInSeconds },
    devedor: { ...documentField(document), nome: name },
    valor: { original: formatAmountText(input.amountCents), modalidadeAlteracao: 0 },
    chave: pixKey,
    ...(input.description !== null && { solicitacaoPagador: input.description }),
  };
}
