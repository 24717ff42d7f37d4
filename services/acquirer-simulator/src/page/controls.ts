import type { Field } from './call-form.ts';

/** One call of the control API, with every field that its body may have. */
export type Control = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: `/control/${string}`;
  /** What the call does, in a few words. */
  does: string;
  fields: readonly Field[];
};

const cents = (name: string, label: string): Field => ({ name, label, as: 'cents' });
const text = (name: string, label = name): Field => ({ name, label, as: 'text' });
const int = (name: string, label: string): Field => ({ name, label, as: 'int' });
const time = (name: string): Field => ({ name, label: `${name} (now)`, as: 'text' });
const required = (field: Field): Field => ({ ...field, required: true });

const ARRIVAL = [text('end_to_end_id'), time('paid_at'), int('times', 'notices (1)')];
const REJECTION = [text('code'), text('message')];
const LOSS = [cents('returned_amount', 'returned in R$ (all)'), text('natureza')];

/** The whole control API: every button of the page calls one of these, and a test holds the routes to the list. */
export const CONTROLS = {
  payCharge: {
    method: 'POST',
    path: '/control/charges/:txid/pay',
    does: 'a payer pays a charge',
    fields: [cents('amount', 'amount in R$ (its own)'), ...ARRIVAL],
  },
  receivePix: {
    method: 'POST',
    path: '/control/pix',
    does: 'money arrives without a charge',
    fields: [
      required(cents('amount', 'amount in R$')),
      text('txid', 'txid (none)'),
      text('chave', 'Pix key (own)'),
      ...ARRIVAL,
    ],
  },
  returnPix: {
    method: 'POST',
    path: '/control/pix/:id/returns',
    does: 'money of a received Pix goes back, or of an order comes back',
    fields: [cents('amount', 'amount in R$ (all)'), text('natureza', 'natureza (ORIGINAL)')],
  },
  openDispute: {
    method: 'POST',
    path: '/control/disputes',
    does: 'the payer contests a Pix',
    fields: [
      required(text('end_to_end_id')),
      cents('amount', 'amount in R$ (all)'),
      text('reason', 'reason (SCAM)'),
      text('status', 'status (open)'),
      time('opened_at'),
      ...LOSS,
    ],
  },
  decideDispute: {
    method: 'POST',
    path: '/control/disputes/:id/decide',
    does: 'a dispute is won or lost',
    fields: [required(text('outcome', 'won or lost')), ...LOSS],
  },
  withdrawDispute: {
    method: 'POST',
    path: '/control/disputes/:id/withdraw',
    does: 'the payer takes a dispute back',
    fields: [],
  },
  setTariff: {
    method: 'PUT',
    path: '/control/tariff',
    does: 'what the provider takes of each Pix from now on',
    fields: [required(cents('amount', 'tariff in R$ (0 ends it)'))],
  },
  settleSend: {
    method: 'POST',
    path: '/control/sends/:id/settle',
    does: 'an order settles now',
    fields: [],
  },
  rejectSend: {
    method: 'POST',
    path: '/control/sends/:id/reject',
    does: 'an order is rejected now',
    fields: REJECTION,
  },
  contradictSend: {
    method: 'POST',
    path: '/control/sends/:id/contradict',
    does: 'an order that has ended turns around',
    fields: [required(text('status', 'REALIZADO or NAO_REALIZADO')), ...REJECTION],
  },
  addForeignSend: {
    method: 'POST',
    path: '/control/sends',
    does: 'money leaves the account by another way',
    fields: [
      required(cents('amount', 'amount in R$')),
      text('id_envio', 'idEnvio (none)'),
      time('requested_at'),
    ],
  },
  adjustBalance: {
    method: 'PUT',
    path: '/control/balance-adjustment',
    does: 'what the balance shows beyond what happened',
    fields: [required(cents('amount', '± R$ (0 ends it)'))],
  },
  readClock: { method: 'GET', path: '/control/clock', does: 'the time', fields: [] },
  moveClock: {
    method: 'POST',
    path: '/control/clock',
    does: 'the clock goes ahead, or back',
    fields: [required(int('advance_seconds', 'seconds'))],
  },
  resetClock: { method: 'DELETE', path: '/control/clock', does: 'the real time', fields: [] },
  readJournal: {
    method: 'GET',
    path: '/control/journal',
    does: 'what really happened',
    fields: [],
  },
  readState: { method: 'GET', path: '/control/state', does: 'how it stands', fields: [] },
  readFaults: {
    method: 'GET',
    path: '/control/faults',
    does: 'what goes wrong, and how often still',
    fields: [],
  },
  replaceFaults: {
    method: 'PUT',
    path: '/control/faults',
    does: 'what goes wrong from now on',
    fields: [{ name: 'script', label: 'fault script', as: 'json', value: '{"rules":[]}' }],
  },
  addFaults: {
    method: 'POST',
    path: '/control/faults',
    does: 'what goes wrong beside that',
    fields: [{ name: 'script', label: 'fault script', as: 'json', value: '{"rules":[]}' }],
  },
  removeFaults: {
    method: 'DELETE',
    path: '/control/faults/:id',
    does: 'an added script ends',
    fields: [],
  },
  clearFaults: {
    method: 'DELETE',
    path: '/control/faults',
    does: 'nothing goes wrong',
    fields: [],
  },
  setProfile: {
    method: 'PUT',
    path: '/control/profile',
    does: 'whether amounts decide',
    fields: [required(text('name', 'manual or efi'))],
  },
} as const satisfies Record<string, Control>;

/** Method and address of a call about one thing: `:id` and the like are taken from `ids`. */
export function callOf<Called extends Control>(
  { method, path }: Called,
  ids: Readonly<Record<string, string>> = {},
): { method: Called['method']; path: string } {
  return {
    method,
    path: path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(ids[name] ?? '')),
  };
}

/** Fields for the ids that stand in the address. */
export function idFields({ path }: Control): Field[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    label: name,
    as: 'path' as const,
    required: true,
  }));
}
