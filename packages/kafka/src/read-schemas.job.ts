import type { MessageType } from '@pixmesh/contracts/messages/message-type';
import { isDatabaseAway } from '@pixmesh/postgres/database-error';
import { loadMessageSchemas } from '@pixmesh/postgres/message-schemas';
import type { Queryable } from '@pixmesh/postgres/pool';
import { type NextTurn, type PollingLoop, startPollingLoop } from '@pixmesh/service/polling-loop';
import type { Logger } from '@pixmesh/telemetry/logger';

import { createCodec, type MessageCodec } from './message-codec.ts';

/** A deploy job may register more, or all of them anew under other ids, while this process lives. */
const READ_INTERVAL_MS = 60_000;

type ReadSchemasOptions = {
  /** Names the loop in the log. */
  name: string;
  db: Queryable;
  logger: Logger;
  registryUrl: string;
  /** What this process speaks. */
  messages: readonly MessageType[];
  /** Called once, when all of it can be encoded and decoded. */
  onKnown(codec: MessageCodec): void;
  /** Called when the database answers, and this process cannot begin to speak. */
  onFatal(error: Error): void;
};

/**
 * Reads the message schemas that the deploy job has stored in the service's own database, again and again while that is
 * away. Neither broker nor registry is asked, so whatever becomes of them, a service starts.
 */
export function startReadingSchemas(options: ReadSchemasOptions): PollingLoop {
  const { name, db, logger, registryUrl, messages, onKnown, onFatal } = options;
  const codec = createCodec(registryUrl, messages);
  let isKnown = false;
  let learning: Promise<string[]> | null = null;
  return startPollingLoop({ name, logger, turn });

  /** What is refused may be a message of a version that was deployed since the schemas were read. */
  async function encode(...message: Parameters<MessageCodec['encode']>): Promise<Buffer> {
    return await codec.encode(...message).catch(async () => {
      await learnStored();
      return await codec.encode(...message);
    });
  }

  /** Returns the subjects of its own messages that have other ids by now. All who ask at once share one reading. */
  async function learnStored(): Promise<string[]> {
    learning ??= loadMessageSchemas(db)
      .then((schemas) => schemas.filter((one) => codec.learn(one)).map(({ subject }) => subject))
      .finally(() => (learning = null));
    return await learning;
  }

  async function turn(): Promise<NextTurn> {
    try {
      const subjects = await learnStored();
      if (!isKnown) begin();
      else if (subjects.length > 0) logger.info({ subjects }, 'message schemas changed their ids');
    } catch (error) {
      if (isKnown || isDatabaseAway(error)) throw error;
      const { message } = error as Error;
      onFatal(new Error(`messaging cannot start, has the deploy job run? ${message}`));
    }
    return { pauseMs: READ_INTERVAL_MS };
  }

  function begin(): void {
    const missing = codec.missing();
    if (missing.length > 0) throw new Error(`schemas not stored: ${missing.join(', ')}`);
    onKnown({ ...codec, encode });
    isKnown = true;
  }
}
