import { rawBody } from '@pixmesh/http/service-app';
import { parseJsonBody } from '@pixmesh/kernel/json-body';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';

import type { FaultyOperation, Only } from './fault-script.ts';

/** Whom a call, a settling or a notice is about, in the words of a filter. */
export type Subject = { readonly [Name in keyof Only]?: string | null };

/** What names a subject: from one of these the rest is looked up. */
export type SubjectNames = {
  txid?: string | null;
  idEnvio?: string | null;
  endToEndId?: string | null;
  disputeId?: string | null;
  /** Known before anything is stored: from the body of a call. */
  pixKey?: string | null;
  debtor?: string | null;
};

const ID_LENGTH_MAX = 64;

export function isAbout(only: Only | undefined, subject: Subject): boolean {
  if (only === undefined) return true;
  return Object.entries(only).every(
    ([name, value]) => value === undefined || subject[name as keyof Only] === value,
  );
}

/** What a call of the API names, however broken the rest of it is. */
export function readNames(operation: FaultyOperation, request: FastifyRequest): SubjectNames {
  const params = request.params as Record<string, string | undefined>;
  const names = {
    txid: readId(params['txid']),
    idEnvio: readId(params['idEnvio']),
    endToEndId: readId(params['e2eid']),
  };
  if (operation === 'submitDefense') {
    const { data } = z.guid().safeParse(params['id']);
    return { disputeId: data ?? null };
  }
  const parsed = parseJsonBody(rawBody(request.body));
  if (parsed.kind !== 'ok') return names;
  const { data } = CallBody.safeParse(parsed.value);
  return {
    ...names,
    pixKey: data?.favorecido?.chave ?? data?.chave ?? null,
    debtor: data?.devedor?.nome ?? null,
  };
}

/** What an item of a notice names: a received Pix, or an order. */
export function readItemNames(item: object): SubjectNames {
  const { data } = NoticeItem.safeParse(item);
  return {
    txid: data?.txid ?? null,
    idEnvio: data?.gnExtras?.idEnvio ?? null,
    endToEndId: data?.endToEndId ?? null,
  };
}

const optional = z.string().optional().catch(undefined);

const CallBody = z.object({
  chave: optional,
  devedor: z.object({ nome: optional }).nullish().catch(null),
  favorecido: z.object({ chave: optional }).nullish().catch(null),
});

const NoticeItem = z.object({
  endToEndId: optional,
  txid: optional,
  gnExtras: z.object({ idEnvio: optional }).nullish().catch(null),
});

function readId(text: string | undefined): string | null {
  return text === undefined || text.length > ID_LENGTH_MAX || text.includes('\0') ? null : text;
}
