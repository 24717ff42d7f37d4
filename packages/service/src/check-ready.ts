import { get } from 'node:http';

/**
 * `node packages/service/src/check-ready.ts`, the health check of the images: ends with 0 where the process beside it
 * answers `/readyz` with 200. The images need neither a shell nor curl for it.
 */
const TIMEOUT_MS = 4_000;
const HTTP_OK = 200;

const port = process.env['INTERNAL_PORT'] ?? '9090';
process.exitCode = 1;
const request = get(`http://127.0.0.1:${port}/readyz`, { timeout: TIMEOUT_MS }, (answer) => {
  process.exitCode = answer.statusCode === HTTP_OK ? 0 : 1;
  answer.resume();
});
request.on('timeout', () => request.destroy());
request.on('error', () => undefined);
