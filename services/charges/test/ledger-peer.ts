import { JOURNAL_KINDS } from '@pixmesh/contracts/internal/journal-kinds';
import {
  ReceivedPixCredited,
  ReceivedPixSuspended,
  SuspenseCredited,
  SuspenseResolved,
} from '@pixmesh/contracts/messages/ledger-event.v1';
import { TOPICS } from '@pixmesh/contracts/topics';
import type { MessageType } from '@pixmesh/contracts/messages/message-type';
import { newId } from '@pixmesh/kernel/ids';
import { outboundEvent, type OutboundEvent } from '@pixmesh/postgres/events';
import type { Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { endUnanswered } from '@pixmesh/postgres/unanswered-commands';
import type { z } from 'zod';

import type { Json } from './charges-under-test.ts';
import type { WireJournal } from './ledger-double.ts';

export type Command = { type: string; key: string; message: Json };

const ANSWERS: Record<string, MessageType<z.ZodObject>> = {
  'received_pix.credit': ReceivedPixCredited,
  'received_pix.suspend': ReceivedPixSuspended,
  'suspense.resolve': SuspenseResolved,
  'suspense.credit': SuspenseCredited,
};

/** All ledger commands that the service has written, oldest first. */
export async function ledgerCommands(db: Queryable): Promise<Command[]> {
  return await db.query<Command>(
    sql`select type, key, message from events where topic = ${TOPICS.ledgerCommands} order by event_id`,
  );
}

/** A ledger that books every command, and announces that each time it is asked to. */
export function createLedgerPeer(parts: {
  db: Queryable;
  publish(event: OutboundEvent): Promise<void>;
  /** Where it books; those of `startLedgerDouble`, if reconciliation is to find them. */
  journals?: Map<string, WireJournal>;
}) {
  const answered = new Set<string>();
  return { answerAll };

  /** Answers the commands that it has not answered yet. */
  async function answerAll(): Promise<void> {
    for (const command of await ledgerCommands(parts.db)) {
      const { command_id: id } = command.message.data;
      const answer = ANSWERS[command.type];
      if (answered.has(id)) continue;
      answered.add(id);
      parts.journals?.set(id, toJournal(command));
      if (answer) await parts.publish(toEvent(answer, command));
      else await endUnanswered(parts.db, [id]);
    }
  }
}

function toJournal({ type, key, message }: Command): WireJournal {
  return {
    command_id: message.data.command_id,
    account_id: key,
    kind: JOURNAL_KINDS[type as keyof typeof JOURNAL_KINDS],
    resource_id: message.data.charge_id ?? null,
    amount: message.data.amount,
    created_at: new Date().toISOString(),
  };
}

function toEvent(answer: MessageType<z.ZodObject>, { key, message }: Command): OutboundEvent {
  const { command_id, release_at: _release, reason: _reason, ...data } = message.data;
  const wire = {
    ...message,
    event_id: newId(),
    type: answer.type,
    data: { ...data, command_id, journal_id: command_id, balance: { available: 0, pending: 0 } },
  };
  return outboundEvent(answer, { key, sequence: null }, answer.schema.parse(wire));
}
