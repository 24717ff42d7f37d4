import { expect, test } from 'vitest';

import { readReason } from './dispute-reason.ts';

test.each([
  ['golpe', 'scam'],
  ['aquisição da conta', 'account_takeover'],
  ['Aquisicao da conta', 'account_takeover'],
  ['coerção', 'coercion'],
  ['coerc\u0327a\u0303o', 'coercion'],
  ['acesso fraudulento', 'fraudulent_access'],
  ['outro', 'other'],
  ['desconhecido', 'other'],
  ['SCAM', 'scam'],
  ['OPERATIONAL_FLAW', 'operational_flaw'],
  ['Solicitacao de devolução', 'other'],
])('the acquirer’s word %j is the reason %s', (word, reason) => {
  expect(readReason(word)).toBe(reason);
});
