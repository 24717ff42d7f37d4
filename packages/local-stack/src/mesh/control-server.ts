import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { writeFileAtomically } from '../write-file-atomically.ts';
import { controlFilePath } from '../supervisor/run-files.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { parseScale } from './scale.ts';
import type { Scaling } from './scaling.ts';

const TOKEN_BYTES = 24;

/** Written to the home, readable by its owner only: who can read it may give commands. */
export interface ControlFile {
  url: string;
  token: string;
}

interface Commanded {
  supervisor: Supervisor;
  scaling: Scaling;
  /** Runs the deploy job once more: migrations, topics, schemas. */
  deployAgain(): Promise<void>;
}

/**
 * Takes `POST /restart/<name>`, `POST /scale/<name>=<count>` and `POST /deploy/again` from the commands of this home;
 * answers when it is done.
 */
export async function startControlServer(
  commanded: Commanded,
  port: number,
): Promise<{ close(): Promise<void> }> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const server = createServer((request, response) => {
    void answer(request, response, { ...commanded, token });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const file: ControlFile = { url: `http://127.0.0.1:${port}`, token };
  writeFileAtomically(controlFilePath(commanded.supervisor.home), JSON.stringify(file));
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  deps: Commanded & { token: string },
): Promise<void> {
  const [, command, argument] =
    /^\/(restart|scale|deploy)\/([\w=,-]+)$/.exec(request.url ?? '') ?? [];
  if (!isAuthorized(request, deps.token)) return reply(response, 401, 'not authorized');
  if (request.method !== 'POST' || !argument) return reply(response, 404, 'no such command');
  try {
    if (command === 'scale') await deps.scaling.scaleTo(parseScale([argument]));
    else if (command === 'deploy') await deps.deployAgain();
    else await deps.supervisor.restart(argument);
    reply(response, 200, JSON.stringify(deps.supervisor.pids()));
  } catch (error) {
    reply(response, 409, (error as Error).message);
  }
}

function reply(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(text);
}

function isAuthorized(request: IncomingMessage, token: string): boolean {
  const given = Buffer.from(request.headers.authorization ?? '');
  const expected = Buffer.from(`Bearer ${token}`);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
