import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { writeFileAtomically } from '../write-file-atomically.ts';
import { controlFilePath } from '../supervisor/run-files.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';

const TOKEN_BYTES = 24;

/** Written to the home, readable by its owner only: who can read it may give commands. */
export interface ControlFile {
  url: string;
  token: string;
}

/** Takes `POST /restart/<name>` from the commands of this home and answers when it is done. */
export async function startControlServer(
  supervisor: Supervisor,
  port: number,
): Promise<{ close(): Promise<void> }> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const server = createServer((request, response) => {
    void answer(request, response, { supervisor, token });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const file: ControlFile = { url: `http://127.0.0.1:${port}`, token };
  writeFileAtomically(controlFilePath(supervisor.home), JSON.stringify(file));
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
  deps: { supervisor: Supervisor; token: string },
): Promise<void> {
  const name = /^\/restart\/([\w-]+)$/.exec(request.url ?? '')?.[1];
  if (!isAuthorized(request, deps.token)) return reply(response, 401, 'not authorized');
  if (request.method !== 'POST' || !name) return reply(response, 404, 'no such command');
  try {
    await deps.supervisor.restart(name);
    reply(response, 200, String(deps.supervisor.pids()[name]));
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
