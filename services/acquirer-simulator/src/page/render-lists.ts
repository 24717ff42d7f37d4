import { formatBalanceText } from '@pixmesh/acquirer/amount-text';

import { callButton, callForm, type Field } from './call-form.ts';
import { callOf, CONTROLS } from './controls.ts';
import { html, type Html } from './html.ts';
import type { State } from './state.ts';
import type {
  CallbackState,
  ChargeState,
  DisputeState,
  PixState,
  ReturnState,
  SendState,
} from './state.sql.ts';

/** `Pay late`: so long after the end of a charge the payment has settled. */
const LATE_MS = 60_000;
const AMOUNT: Field = { name: 'amount', label: 'amount in R$ (all)', as: 'cents' };

export function renderCharges(state: State): Html {
  const now = Date.parse(state.clock.now);
  const heads = ['txid', 'status', 'amount', 'paid', 'expires', ''];
  return table(
    'Charges',
    heads,
    state.charges.map((charge) => chargeRow(charge, now)),
  );
}

export function renderPix(state: State): Html {
  const heads = ['end-to-end id', 'txid', 'amount', 'at', 'returns', ''];
  return table('Received Pix', heads, state.pix.map(pixRow));
}

export function renderSends(state: State): Html {
  const heads = ['idEnvio', 'end-to-end id', 'status', 'amount', 'returns', ''];
  return table('Sends', heads, state.sends.map(sendRow));
}

export function renderDisputes(state: State): Html {
  const heads = ['dispute', 'end-to-end id', 'status', 'amount', 'reason', 'deadline', ''];
  return table('Disputes', heads, state.disputes.map(disputeRow));
}

export function renderCallbacks(state: State): Html {
  const heads = ['notice', 'attempts', 'next attempt', 'body'];
  return table('Callbacks waiting', heads, state.callbacks.map(callbackRow));
}

function chargeRow(charge: ChargeState, now: number): Html {
  const pay = callOf(CONTROLS.payCharge, { txid: charge.txid });
  const paidAt = new Date(Math.max(now, Date.parse(charge.expires_at) + LATE_MS)).toISOString();
  const status = charge.expired ? `${charge.status} (expired)` : charge.status;
  return html`<tr data-id="${charge.txid}">
    <td><code>${charge.txid}</code></td>
    <td>${status}</td>
    <td>${reais(charge.amount)}</td>
    <td>${reais(charge.paid)}</td>
    <td><time>${charge.expires_at}</time></td>
    <td class="buttons">
      ${callButton({ ...pay, label: charge.paid > 0 ? 'Pay again' : 'Pay' })}
      ${callForm({ ...pay, label: 'Pay wrong', bad: true }, [
        { name: 'amount', label: 'amount in R$', as: 'cents', required: true },
      ])}
      ${callButton({ ...pay, label: 'Pay late', body: { paid_at: paidAt }, bad: true })}
    </td>
  </tr>`;
}

function pixRow(pix: PixState): Html {
  const { end_to_end_id, txid } = pix;
  const announce =
    txid !== null && pix.own
      ? callButton({
          label: 'Announce again',
          ...callOf(CONTROLS.payCharge, { txid }),
          body: { end_to_end_id },
        })
      : null;
  const dispute = callForm(
    {
      label: 'Dispute',
      ...callOf(CONTROLS.openDispute),
      body: { end_to_end_id },
      bad: true,
    },
    [AMOUNT, { name: 'reason', label: 'reason', as: 'text', value: 'SCAM', required: true }],
  );
  return html`<tr data-id="${end_to_end_id}">
    <td><code>${end_to_end_id}</code></td>
    <td><code>${txid ?? 'none'}</code></td>
    <td>
      ${reais(pix.amount)} ${pix.tariff !== null && html`<small>− ${reais(pix.tariff)}</small>`}
    </td>
    <td><time>${pix.paid_at}</time></td>
    <td>${returnList(pix.returns)}</td>
    <td class="buttons">
      ${pix.own ? [announce, returnForm(end_to_end_id), dispute].filter((form) => form !== null) : html`of <code>${pix.chave}</code>`}
    </td>
  </tr>`;
}

function sendRow(send: SendState): Html {
  return html`<tr data-id="${send.end_to_end_id}">
    <td><code>${send.id_envio ?? 'none'}</code></td>
    <td><code>${send.end_to_end_id}</code></td>
    <td>${send.status}</td>
    <td>${reais(send.amount)}</td>
    <td>${returnList(send.returns)}</td>
    <td class="buttons">${sendForms(send)}</td>
  </tr>`;
}

function sendForms(send: SendState): Html[] {
  const of = { id: send.id_envio ?? send.end_to_end_id };
  const turnTo = (status: string): Html =>
    callButton({
      label: 'Contradict',
      ...callOf(CONTROLS.contradictSend, of),
      body: { status },
      bad: true,
    });
  if (send.status === 'REALIZADO') return [returnForm(send.end_to_end_id), turnTo('NAO_REALIZADO')];
  if (send.status === 'NAO_REALIZADO') return [turnTo('REALIZADO')];
  return [
    callButton({ label: 'Settle', ...callOf(CONTROLS.settleSend, of) }),
    callButton({ label: 'Reject', ...callOf(CONTROLS.rejectSend, of), bad: true }),
  ];
}

function disputeRow(dispute: DisputeState): Html {
  const isOpen = dispute.decided_at === null;
  return html`<tr data-id="${dispute.id}">
    <td><code>${dispute.id}</code></td>
    <td><code>${dispute.end_to_end_id}</code></td>
    <td>${dispute.status}</td>
    <td>${reais(dispute.amount)}</td>
    <td>${dispute.reason}</td>
    <td><time>${dispute.deadline_at}</time></td>
    <td class="buttons">${disputeForms(dispute, isOpen)}</td>
  </tr>`;
}

/** One that was won may still be lost. */
function disputeForms(dispute: DisputeState, isOpen: boolean): Html[] {
  const decide = callOf(CONTROLS.decideDispute, { id: dispute.id });
  const lose = callForm({ ...decide, label: 'Lost', body: { outcome: 'lost' }, bad: true }, [
    { name: 'returned_amount', label: 'returned in R$ (all)', as: 'cents' },
  ]);
  if (!isOpen) return dispute.status === 'ACEITA' ? [] : [lose];
  return [
    callButton({ ...decide, label: 'Won', body: { outcome: 'won' } }),
    lose,
    callButton({ label: 'Withdraw', ...callOf(CONTROLS.withdrawDispute, { id: dispute.id }) }),
  ];
}

function callbackRow(callback: CallbackState): Html {
  const next = callback.next_attempt_at ?? 'given up';
  return html`<tr data-id="${callback.id}">
    <td>${callback.id}</td>
    <td>${callback.attempts}</td>
    <td><time>${next}</time>${callback.held && ' (held)'}</td>
    <td><code>${JSON.stringify(callback.body)}</code></td>
  </tr>`;
}

function returnForm(endToEndId: string): Html {
  return callForm({ label: 'Return', ...callOf(CONTROLS.returnPix, { id: endToEndId }) }, [
    AMOUNT,
    { name: 'natureza', label: 'natureza', as: 'text', value: 'ORIGINAL' },
  ]);
}

function returnList(returns: readonly ReturnState[]): Html {
  const items = returns.map(
    ({ amount, natureza, status }) => html`<li>${reais(amount)} ${natureza} ${status}</li>`,
  );
  return html`<ul>
    ${items}
  </ul>`;
}

function table(title: string, heads: readonly string[], rows: readonly Html[]): Html {
  return html`<section>
    <h2>${title} <small>${rows.length}</small></h2>
    <table>
      <thead>
        <tr>
          ${heads.map((head) => html`<th>${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </section>`;
}

function reais(cents: number): string {
  return `R$ ${formatBalanceText(BigInt(cents))}`;
}
