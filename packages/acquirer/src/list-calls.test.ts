import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { Acquirer, ListWindow } from './acquirer.ts';
import { describeUnreadable } from './describe-unreadable.ts';
import { PAGE_BYTES_MAX, PAGE_ITEMS_MAX } from './list-calls.ts';
import {
  apiPix,
  hostileAnswers,
  json,
  startTestProvider,
  type TestProvider,
} from './testing/test-provider.ts';

const TIMEOUT_MS = 5_000;
/** Deadline of a client whose answer never comes. */
const HASTY_MS = 400;

const WINDOW = {
  from: new Date('2026-11-21T00:00:00.000Z'),
  to: new Date('2026-11-21T23:59:59.999Z'),
  page: 0,
};
const SENT = {
  endToEndId: 'E1',
  idEnvio: 'a1',
  valor: '5.00',
  status: 'EM_PROCESSAMENTO',
  horario: { solicitacao: '2026-11-21T13:04:05.678Z' },
};
const RECEIVED = {
  endToEndId: 'E2',
  txid: 't1',
  valor: '7.00',
  chave: 'key',
  horario: '2026-11-21T13:04:05.678Z',
};

let provider: TestProvider;
let acquirer: Acquirer;

beforeEach(async () => {
  provider = await startTestProvider();
  acquirer = provider.connect(TIMEOUT_MS);
});

afterEach(async () => {
  await acquirer[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

/** Both names of items, so that one page fits each list. */
function aPage(items: object[], pagination: object = {}): object {
  return {
    parametros: {
      inicio: '2026-11-21T00:00:00.000Z',
      fim: '2026-11-21T23:59:59.999Z',
      paginacao: {
        paginaAtual: 0,
        itensPorPagina: PAGE_ITEMS_MAX,
        quantidadeDePaginas: 1,
        quantidadeTotalDeItens: items.length,
        ...pagination,
      },
    },
    pix: items,
    infracoes: items,
  };
}

function answer(body: object): void {
  provider.answerCall = (_, response) => json(response, 200, body);
}

const DISPUTE = {
  idInfracao: '0f4ab1c7-e0b8-4c0a-a8a1-c6a6c2f0d111',
  endToEndId: 'E3',
  protocolo: '1',
  valor: '9.00',
  status: 'ABERTA',
  razao: 'SCAM',
  dadosAnalise: { abertura: '2026-11-21T13:04:05.678Z', prazoFinalizacao: null },
};

const LISTS = [
  {
    name: 'listSent',
    path: '/v2/gn/pix/enviados',
    item: SENT,
    list: (client: Acquirer, window: ListWindow) => client.listSent(window),
  },
  {
    name: 'listReceived',
    path: '/v2/pix',
    item: RECEIVED,
    list: (client: Acquirer, window: ListWindow) => client.listReceived(window),
  },
  {
    name: 'listDisputes',
    path: '/v2/gn/infracoes',
    item: DISPUTE,
    list: (client: Acquirer, window: ListWindow) => client.listDisputes(window),
  },
];

it('asks for received Pix of which something went back alone', async () => {
  answer(aPage([]));
  await acquirer.listReceived({ ...WINDOW, returnedOnly: true });
  const url = new URL(provider.calls[0]?.url ?? '', 'http://acquirer');
  expect(url.searchParams.get('devolucaoPresente')).toBe('true');
});

describe.each(LISTS)('$name', ({ path, item, list }) => {
  it('asks for one page of a window', async () => {
    answer(aPage([], { paginaAtual: 3, quantidadeDePaginas: 4 }));
    expect(await list(acquirer, { ...WINDOW, page: 3 })).toEqual({
      kind: 'page',
      items: [],
      unreadable: [],
      hasMore: false,
    });
    const url = new URL(provider.calls[0]?.url ?? '', 'http://acquirer');
    expect(url.pathname).toBe(path);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      inicio: '2026-11-21T00:00:00.000Z',
      fim: '2026-11-21T23:59:59.999Z',
      'paginacao.paginaAtual': '3',
      'paginacao.itensPorPagina': '1000',
    });
  });

  it('says whether there is another page, by the pages that the acquirer makes', async () => {
    answer(aPage([item, item], { itensPorPagina: 2, quantidadeDePaginas: 2 }));
    expect(await list(acquirer, WINDOW)).toMatchObject({ hasMore: true });
    answer(aPage([item], { itensPorPagina: 2, quantidadeDePaginas: 2, paginaAtual: 1 }));
    expect(await list(acquirer, { ...WINDOW, page: 1 })).toMatchObject({ hasMore: false });
    answer(aPage([], { quantidadeDePaginas: 0 }));
    expect(await list(acquirer, WINDOW)).toEqual({
      kind: 'page',
      items: [],
      unreadable: [],
      hasMore: false,
    });
  });

  it('reads a full page', async () => {
    answer(
      aPage(Array.from({ length: PAGE_ITEMS_MAX }, () => ({ ...item, extra: 'x'.repeat(500) }))),
    );
    const outcome = await list(acquirer, WINDOW);
    expect(outcome.kind === 'page' && outcome.items.length).toBe(PAGE_ITEMS_MAX);
  });

  it.each([
    ['of another number', aPage([item], { paginaAtual: 1 })],
    ['that hides items', aPage([item], { itensPorPagina: 2, quantidadeDePaginas: 2 })],
    ['without pagination', { pix: [item], infracoes: [item] }],
    ['without items', { parametros: { paginacao: {} } }],
    ['with pages in words', aPage([item], { quantidadeDePaginas: 'one' })],
    ['with items that are no list', { ...aPage([]), pix: {}, infracoes: {} }],
  ])('takes a page %s for unreadable, all of it', async (_, body) => {
    answer(body);
    expect(await list(acquirer, WINDOW)).toEqual({ kind: 'unknown', cause: 'unreadable' });
  });

  it('reads every other item of a page, and names those that it cannot read by place and field', async () => {
    const { endToEndId: _, ...unnamed } = { ...item, valor: 5 };
    answer(aPage([null as unknown as object, item, { ...item, valor: 'SECRET' }, unnamed, item]));
    const outcome = await list(acquirer, WINDOW);
    expect(outcome).toMatchObject({ kind: 'page', hasMore: false });
    if (outcome.kind !== 'page') return;
    expect(outcome.items).toHaveLength(2);
    expect(outcome.unreadable).toEqual([
      { position: 0, paths: [''], endToEndId: null },
      { position: 2, paths: ['valor'], endToEndId: item.endToEndId },
      { position: 3, paths: ['endToEndId', 'valor'], endToEndId: null },
    ]);
    const described = JSON.stringify(describeUnreadable(7, outcome.unreadable));
    expect(described).toContain('"page":7,"unreadable":3');
    expect(described).not.toContain('SECRET');
    expect(described).not.toContain(item.endToEndId);
  });

  it('counts items that it cannot read against the size of its page', async () => {
    answer(aPage([item, {}], { itensPorPagina: 2, quantidadeDePaginas: 2 }));
    expect(await list(acquirer, WINDOW)).toMatchObject({ kind: 'page', hasMore: true });
  });

  it('is unknown where the acquirer refuses the window', async () => {
    provider.answerCall = (_, response) => apiPix(response, 400, 'RequisicaoInvalida');
    expect(await list(acquirer, WINDOW)).toEqual({ kind: 'unknown', cause: 'status_400' });
  });

  it.each(hostileAnswers(200, PAGE_BYTES_MAX))(
    'after %s it is unknown (%s)',
    async (_, cause, handler) => {
      provider.answerCall = handler;
      await using client = provider.connect(cause === 'timeout' ? HASTY_MS : TIMEOUT_MS);
      expect(await list(client, WINDOW)).toEqual({ kind: 'unknown', cause });
    },
  );
});

describe('items of a list', () => {
  it('are payouts, one that nobody ordered here among them', async () => {
    const { idEnvio: _, ...foreign } = SENT;
    answer(aPage([SENT, foreign]));
    expect(await acquirer.listSent(WINDOW)).toMatchObject({
      items: [
        { idEnvio: 'a1', endToEndId: 'E1', status: 'processing', amountCents: 500n },
        { idEnvio: null, endToEndId: 'E1' },
      ],
    });
  });

  it('are received Pix, one without txid among them', async () => {
    const { txid: _, ...unnamed } = RECEIVED;
    answer(aPage([RECEIVED, unnamed]));
    expect(await acquirer.listReceived(WINDOW)).toMatchObject({
      items: [
        { endToEndId: 'E2', txid: 't1', amountCents: 700n, pixKey: 'key' },
        { endToEndId: 'E2', txid: null },
      ],
    });
  });

  it('are received Pix with a return of a kind that nobody knows', async () => {
    const devolucoes = [{ id: 'r1', valor: '1.00', status: 'EM_ANALISE', natureza: 'MED_NOVA' }];
    answer(aPage([{ ...RECEIVED, devolucoes }]));
    expect(await acquirer.listReceived(WINDOW)).toMatchObject({
      items: [{ returns: [{ id: 'r1', status: 'processing', nature: 'MED_NOVA' }] }],
    });
  });

  it.each([
    ['ABERTA', 'open'],
    ['EM_DEFESA', 'under_review'],
    ['ACEITA', 'accepted'],
    ['REJEITADA', 'rejected'],
    ['CANCELADA_EFI', 'canceled'],
  ])('are disputes: %s is %s', async (status, word) => {
    answer(aPage([{ ...DISPUTE, status }]));
    expect(await acquirer.listDisputes(WINDOW)).toEqual({
      kind: 'page',
      hasMore: false,
      unreadable: [],
      items: [
        {
          id: DISPUTE.idInfracao,
          endToEndId: 'E3',
          amountCents: 900n,
          status: word,
          reason: 'SCAM',
          openedAt: new Date('2026-11-21T13:04:05.678Z'),
          deadlineAt: null,
          defenseReceivedAt: null,
          decidedAt: null,
        },
      ],
    });
  });

  it.each([
    ['the situation of a dispute', 'golpe', 'golpe'],
    ['the kind of its report where it names no situation', null, 'Solicitacao de devolução'],
    ['the kind of its report where the situation is empty', '', 'Solicitacao de devolução'],
    ['the kind of its report where the situation is no text', 1, 'Solicitacao de devolução'],
    ['the kind of its report where it is too long', 'x'.repeat(65), 'Solicitacao de devolução'],
  ])('give as the reason %s', async (_, tipoSituacao, reason) => {
    answer(aPage([{ ...DISPUTE, razao: 'Solicitacao de devolução', tipoSituacao }]));
    expect(await acquirer.listDisputes(WINDOW)).toMatchObject({ items: [{ reason }] });
  });

  it('are disputes with the times of what happened to them', async () => {
    const dadosAnalise = {
      abertura: '2026-11-21T10:04:05-03:00',
      prazoFinalizacao: '2026-11-24T13:04:05.000Z',
      recebimentoDefesa: '2026-11-22T13:04:05.000Z',
      finalizacao: '2026-11-23T13:04:05.000Z',
    };
    answer(aPage([{ ...DISPUTE, dadosAnalise }]));
    expect(await acquirer.listDisputes(WINDOW)).toMatchObject({
      items: [
        {
          openedAt: new Date('2026-11-21T13:04:05.000Z'),
          deadlineAt: new Date('2026-11-24T13:04:05.000Z'),
          defenseReceivedAt: new Date('2026-11-22T13:04:05.000Z'),
          decidedAt: new Date('2026-11-23T13:04:05.000Z'),
        },
      ],
    });
  });

  it.each([
    ['a status that nobody knows', { status: 'EM_RECURSO' }, 'status'],
    ['no id', { idInfracao: undefined }, 'idInfracao'],
    ['an empty id', { idInfracao: '' }, 'idInfracao'],
    ['no Pix', { endToEndId: undefined }, 'endToEndId'],
    ['an amount that is a number', { valor: 9 }, 'valor'],
    ['a reason that is no text', { razao: null }, 'razao'],
    ['a reason that cannot be stored', { razao: 'SCAM\u0000' }, 'razao'],
    ['no opening', { dadosAnalise: {} }, 'dadosAnalise.abertura'],
    [
      'a deadline that is none',
      { dadosAnalise: { ...DISPUTE.dadosAnalise, finalizacao: 'soon' } },
      'dadosAnalise.finalizacao',
    ],
  ])('are read all the same where one dispute has %s', async (_, change, path) => {
    answer(aPage([{ ...DISPUTE, ...change }, DISPUTE]));
    expect(await acquirer.listDisputes(WINDOW)).toMatchObject({
      kind: 'page',
      items: [{ id: DISPUTE.idInfracao }],
      unreadable: [{ position: 0, paths: [path] }],
    });
  });

  it('name a field within a list without its place', async () => {
    const devolucoes = [{}, { id: 'r1', valor: 1, status: 'DEVOLVIDO' }];
    answer(aPage([{ ...RECEIVED, devolucoes }]));
    expect(await acquirer.listReceived(WINDOW)).toMatchObject({
      items: [],
      unreadable: [
        {
          endToEndId: 'E2',
          paths: ['devolucoes.[].id', 'devolucoes.[].valor', 'devolucoes.[].status'],
        },
      ],
    });
  });
});
