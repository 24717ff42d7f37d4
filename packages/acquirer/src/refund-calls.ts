import type { CallOptions, Lookup, PixReturn, RefundOutcome, RefundToSend } from './acquirer.ts';
import { formatAmountText } from './amount-text.ts';
import { type CallAcquirer, UNREADABLE } from './call-acquirer.ts';
import { lookUp } from './look-up.ts';
import { readReturn } from './read-return.ts';

/**
 * Orders a return under our own id, which the acquirer takes once per Pix: the same order again never pays
 * twice. Its answer `devolucao_id_duplicado` is an unknown outcome, which `getRefund` resolves.
 */
export async function refund(
  call: CallAcquirer,
  input: RefundToSend,
  options: CallOptions | undefined,
): Promise<RefundOutcome> {
  const result = await call({
    operation: 'refund',
    method: 'PUT',
    path: refundPath(input.endToEndId, input.refundId),
    body: { valor: formatAmountText(input.amountCents) },
    options,
  });
  if (result.kind === 'not_found') return UNREADABLE;
  if (result.kind !== 'done') return result;
  const accepted = readReturn(result.body, input.refundId);
  return accepted === null ? UNREADABLE : { kind: 'accepted', refund: accepted };
}

export async function getRefund(
  call: CallAcquirer,
  ids: { endToEndId: string; refundId: string },
  options: CallOptions | undefined,
): Promise<Lookup<PixReturn>> {
  return await lookUp(call, {
    operation: 'getRefund',
    path: refundPath(ids.endToEndId, ids.refundId),
    read: (body) => readReturn(body, ids.refundId),
    options,
  });
}

function refundPath(endToEndId: string, refundId: string): string {
  const [pix, id] = [encodeURIComponent(endToEndId), encodeURIComponent(refundId)];
  return `/v2/pix/${pix}/devolucao/${id}`;
}
