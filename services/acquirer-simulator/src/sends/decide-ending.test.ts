import { describe, expect, it } from 'vitest';

import { decideEnding } from './decide-ending.ts';

const words = {};
const settle = { kind: 'settle', words } as const;
const reject = { kind: 'reject', words } as const;
const turnSettled = { kind: 'contradict', status: 'REALIZADO', words } as const;
const turnRejected = { kind: 'contradict', status: 'NAO_REALIZADO', words } as const;

const conflict = { kind: 'conflict' };
const nothing = { kind: 'nothing' };
const settles = { kind: 'end', status: 'REALIZADO' };
const rejects = { kind: 'end', status: 'NAO_REALIZADO' };

describe('an ending by hand', () => {
  it.each([
    ['settles what is on its way', 'EM_PROCESSAMENTO', settle, settles],
    ['rejects what is on its way', 'EM_PROCESSAMENTO', reject, rejects],
    ['settles once', 'REALIZADO', settle, nothing],
    ['rejects once', 'NAO_REALIZADO', reject, nothing],
    ['does not settle what was rejected', 'NAO_REALIZADO', settle, conflict],
    ['does not reject what has settled', 'REALIZADO', reject, conflict],
    ['turns a rejection around', 'NAO_REALIZADO', turnSettled, settles],
    ['turns a settlement around', 'REALIZADO', turnRejected, rejects],
    ['turns around once', 'REALIZADO', turnSettled, nothing],
    ['contradicts nothing that is not final', 'EM_PROCESSAMENTO', turnSettled, conflict],
    ['nor with a rejection', 'EM_PROCESSAMENTO', turnRejected, conflict],
  ] as const)('%s', (_, status, ending, decision) => {
    expect(decideEnding(status, ending)).toEqual(decision);
  });
});
