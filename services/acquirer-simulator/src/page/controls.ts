import type { Field } from './call-form.ts';

/** One call of the control API, with every field that its body may have. */
export type Control = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: `/control/${string}`;
  /** What the call does, in a few words. */
  does: string;
  fields: readonly Field[];
};

const get = calling('GET');
const post = calling('POST');
const put = calling('PUT');
const remove = calling('DELETE');

function calling<Method extends Control['method']>(method: Method) {
  return (path: Control['path'], does: string, ...fields: readonly Field[]) => ({
    method,
    path,
    does,
    fields,
  });
}

const cents = (name: string, label: string): Field => ({ name, label, as: 'cents' });
const text = (name: string, label = name): Field => ({ name, label, as: 'text' });
const int = (name: string, label: string): Field => ({ name, label, as: 'int' });
const time = (name: string): Field => ({ name, label: `${name} (now)`, as: 'text' });
const required = (field: Field): Field => ({ ...field, required: true });

const ARRIVAL = [text('end_to_end_id'), time('paid_at'), int('times', 'notices (1)')];
const REJECTION = [text('code'), text('message')];
const LOSS = [cents('returned_amount', 'returned in R$ (all)'), text('natureza')];

const FAULT_SCRIPT: Field = {
  name: 'script',
  label: 'fault script',
  as: 'json',
  value: '{"rules":[]}',
};

/** The whole control API: every button of the page calls one of these, and a test holds the routes to the list. */
export const CONTROLS = {
  payCharge: post(
    '/control/charges/:txid/pay',
    'a payer pays a charge',
    cents('amount', 'amount in R$ (its own)'),
    ...ARRIVAL,
  ),
  payBrCode: post(
    '/control/payments',
    'a payer pays by the text of a BR Code',
    required(text('br_code')),
  ),
  receivePix: post(
    '/control/pix',
    'money arrives without a charge',
    required(cents('amount', 'amount in R$')),
    text('txid', 'txid (none)'),
    text('chave', 'Pix key (own)'),
    ...ARRIVAL,
  ),
  returnPix: post(
    '/control/pix/:id/returns',
    'money of a received Pix goes back, or of an order comes back',
    cents('amount', 'amount in R$ (all)'),
    text('natureza', 'natureza (ORIGINAL)'),
  ),
  openDispute: post(
    '/control/disputes',
    'the payer contests a Pix',
    required(text('end_to_end_id')),
    cents('amount', 'amount in R$ (all)'),
    text('reason', 'reason (SCAM)'),
    text('status', 'status (open)'),
    time('opened_at'),
    ...LOSS,
  ),
  decideDispute: post(
    '/control/disputes/:id/decide',
    'a dispute is won or lost',
    required(text('outcome', 'won or lost')),
    ...LOSS,
  ),
  withdrawDispute: post('/control/disputes/:id/withdraw', 'the payer takes a dispute back'),
  setTariff: put(
    '/control/tariff',
    'what the provider takes of each Pix from now on',
    required(cents('amount', 'tariff in R$ (0 ends it)')),
  ),
  settleSend: post('/control/sends/:id/settle', 'an order settles now'),
  rejectSend: post('/control/sends/:id/reject', 'an order is rejected now', ...REJECTION),
  contradictSend: post(
    '/control/sends/:id/contradict',
    'an order that has ended turns around',
    required(text('status', 'REALIZADO or NAO_REALIZADO')),
    ...REJECTION,
  ),
  addForeignSend: post(
    '/control/sends',
    'money leaves the account by another way',
    required(cents('amount', 'amount in R$')),
    text('id_envio', 'idEnvio (none)'),
    time('requested_at'),
  ),
  adjustBalance: put(
    '/control/balance-adjustment',
    'what the balance shows beyond what happened',
    required(cents('amount', '± R$ (0 ends it)')),
  ),
  readClock: get('/control/clock', 'the time'),
  moveClock: post(
    '/control/clock',
    'the clock goes ahead, or back',
    required(int('advance_seconds', 'seconds')),
  ),
  resetClock: remove('/control/clock', 'the real time'),
  readJournal: get('/control/journal', 'what really happened'),
  readState: get('/control/state', 'how it stands'),
  readFaults: get('/control/faults', 'what goes wrong, and how often still'),
  replaceFaults: put('/control/faults', 'what goes wrong from now on', FAULT_SCRIPT),
  addFaults: post('/control/faults', 'what goes wrong beside that', FAULT_SCRIPT),
  removeFaults: remove('/control/faults/:id', 'an added script ends'),
  clearFaults: remove('/control/faults', 'nothing goes wrong'),
  setProfile: put(
    '/control/profile',
    'whether amounts decide',
    required(text('name', 'manual or efi')),
  ),
};

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
