import type { MessageType } from '@pixmesh/contracts/messages/message-type';
import { MESSAGE_TYPES } from '@pixmesh/contracts/messages/message-types';
import { OWN_WORK, runForAccount } from '@pixmesh/fair-share/current-account';
import { AppError } from '@pixmesh/kernel/app-error';
import type { z } from 'zod';

import type { RawMessage } from '@pixmesh/postgres/dead-letters';
import { RESEND_HEADER } from '@pixmesh/postgres/events';
import type { MessageCodec } from './message-codec.ts';

/** How a message came, beside what it says. */
type Delivery = { isResend: boolean };

/** What a consumer does with one type of message. */
export type MessageHandler = {
  readonly message: MessageType;
  handle(value: unknown, delivery?: Delivery): Promise<void>;
  /** By its headers, whether a message is this consumer's at all: what is not is not even decoded. Absent: each is. */
  concerns?(headers: Headers): boolean;
};

type Headers = RawMessage['headers'];

const KNOWN_TYPES: ReadonlySet<string> = new Set(MESSAGE_TYPES.map(({ type }) => type));

/**
 * Binds a use case to a message type; the value is parsed by the type's own schema first. What is done about it takes
 * connections in the turns of the account that it is about.
 */
export function on<Schema extends z.ZodType>(
  message: MessageType<Schema>,
  handle: (value: z.output<Schema>, delivery: Delivery) => Promise<void>,
  concerns?: (headers: Headers) => boolean,
): MessageHandler {
  return {
    message,
    ...(concerns && { concerns }),
    handle: async (value, delivery = { isResend: false }) => {
      const parsed = message.schema.safeParse(value);
      if (!parsed.success) throw invalid(`${message.type}: ${describe(parsed.error)}`);
      await runForAccount(accountOf(parsed.data), () => handle(parsed.data, delivery));
    },
  };
}

/** As every envelope names it. */
function accountOf(message: unknown): string {
  return (message as { account_id?: string | null }).account_id ?? OWN_WORK;
}

/** Whether a message is none of this consumer's, by its type or other headers. What nobody knows is not: it is parked. */
export function isForOthers(
  handlers: readonly MessageHandler[],
  type: string | undefined,
  readHeaders: () => Headers,
): boolean {
  const handler = handlers.find((candidate) => candidate.message.type === type);
  if (handler === undefined) return type !== undefined && KNOWN_TYPES.has(type);
  return handler.concerns !== undefined && !handler.concerns(readHeaders());
}

/**
 * Decodes a message and hands it to its handler. What is for other consumers is skipped; types that nobody knows are
 * wrong in themselves.
 * @throws AppError `MESSAGE_INVALID` for what no retry can mend
 */
export async function dispatchMessage(
  deps: { codec: Pick<MessageCodec, 'decode'>; handlers: readonly MessageHandler[] },
  incoming: RawMessage,
): Promise<void> {
  const type = incoming.headers['type'];
  if (isForOthers(deps.handlers, type, () => incoming.headers)) return;
  const handler = deps.handlers.find((candidate) => candidate.message.type === type);
  if (!handler) throw invalid(`unknown type ${type ?? '(none)'}`);
  const isResend = incoming.headers[RESEND_HEADER] !== undefined;
  await handler.handle(await decode(deps.codec, incoming.value), { isResend });
}

async function decode(codec: Pick<MessageCodec, 'decode'>, value: Buffer | null): Promise<unknown> {
  if (value === null) throw invalid('empty value');
  try {
    return await codec.decode(value);
  } catch (error) {
    if (error instanceof AppError) throw error;
    // An id that this process has not met is looked up: then it is the registry that may be away.
    if (isRegistryAway(error)) throw new AppError('DEPENDENCY_UNAVAILABLE', { cause: error });
    throw invalid('undecodable value', error);
  }
}

/** Every refusal of the registry's client but "no such id" is a trouble of the way to it, or its own. */
export function isRegistryAway(error: unknown): boolean {
  const { name, status } = error as { name?: unknown; status?: unknown };
  return name === 'ResponseError' && status !== 404;
}

function invalid(message: string, cause?: unknown): AppError {
  return new AppError('MESSAGE_INVALID', { message, cause });
}

/** Paths only: the values may be personal data. */
function describe(error: z.ZodError): string {
  return error.issues.map((issue) => `${issue.path.join('.')} ${issue.code}`).join(', ');
}
