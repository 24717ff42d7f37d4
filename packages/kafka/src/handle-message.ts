import { setTimeout as delay } from 'node:timers/promises';

import { AppError } from '@pixmesh/kernel/app-error';
import type { Logger } from '@pixmesh/telemetry/logger';
import { continueFrom, fromMessageHeaders, withSpan } from '@pixmesh/telemetry/tracing';

import type { RawMessage } from '@pixmesh/postgres/dead-letters';
import { dispatchMessage, type MessageHandler } from './message-handler.ts';
import type { MessageCodec } from './message-codec.ts';
import { describeMessage, type Letter, letterOf, reportParked } from './parked-letter.ts';

/** How often a message that fails for no known reason is tried before it is parked. */
const HANDLE_TRIES_MAX = 3;
const HANDLE_RETRY_DELAY_MS = 100;

export type HandleMessageDeps = {
  logger: Logger;
  codec: Pick<MessageCodec, 'decode'>;
  handlers: readonly MessageHandler[];
  /** Writes a message that is wrong in itself to `dead_letters`. */
  park(letter: Letter): Promise<void>;
};

export type HandledMessage = { kind: 'handled' } | { kind: 'unavailable'; error: unknown };

/**
 * Handles one message and never throws: the library gives up for good on some errors. What is wrong in itself
 * is parked; `unavailable` means that nothing is wrong with the message and it has to come again.
 */
export async function handleMessage(
  deps: HandleMessageDeps,
  incoming: RawMessage,
): Promise<HandledMessage> {
  return await continueFrom(fromMessageHeaders(incoming.headers), async () => {
    try {
      await dispatchInSpan(deps, incoming);
      deps.logger.debug(describeMessage(incoming), 'message handled');
      return { kind: 'handled' };
    } catch (error) {
      if (isUnavailable(error)) return { kind: 'unavailable', error };
      return await parkMessage(deps, incoming, error);
    }
  });
}

async function dispatchInSpan(deps: HandleMessageDeps, incoming: RawMessage): Promise<void> {
  const attributes = { 'messaging.system': 'kafka', 'messaging.destination.name': incoming.topic };
  await withSpan(`process ${incoming.topic}`, { kind: 'consumer', attributes }, () =>
    dispatchWithRetries(deps, incoming),
  );
}

async function dispatchWithRetries(deps: HandleMessageDeps, incoming: RawMessage): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await dispatchMessage(deps, incoming);
    } catch (error) {
      if (isDefinite(error) || tries === HANDLE_TRIES_MAX) throw error;
      await delay(HANDLE_RETRY_DELAY_MS);
    }
  }
}

async function parkMessage(
  deps: HandleMessageDeps,
  incoming: RawMessage,
  error: unknown,
): Promise<HandledMessage> {
  try {
    await deps.park(letterOf(incoming, error));
  } catch (parkingError) {
    return { kind: 'unavailable', error: parkingError };
  }
  reportParked(deps.logger, incoming, error);
  return { kind: 'handled' };
}

/** A known error says by itself whether the message or the moment is wrong; any other is tried again. */
function isDefinite(error: unknown): boolean {
  return error instanceof AppError && error.code !== 'INTERNAL_ERROR';
}

function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && isDefinite(error) && error.retriable;
}
