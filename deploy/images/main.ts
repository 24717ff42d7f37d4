import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

import { parseImageLock, pinned, renderImageLock } from './image-lock.ts';

/**
 * `node deploy/images/main.ts refresh` writes into `deploy/images.lock` what the registries answer now; `… pinned
 * IMAGE` prints an image with its digest, for the release: `docker build --build-arg NODE_IMAGE=$(… pinned
 * node:24-slim)`.
 */
const LOCK = new URL('../images.lock', import.meta.url);
const REQUEST_LIMIT_MS = 60_000;

const [act = '', image = ''] = process.argv.slice(2);
const text = readFileSync(LOCK, 'utf8');
try {
  if (act === 'refresh') refresh();
  else if (act === 'pinned') process.stdout.write(`${pinned(parseImageLock(text), image)}\n`);
  else throw new Error('usage: node deploy/images/main.ts refresh | pinned IMAGE');
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

function refresh(): void {
  const images = [...parseImageLock(text).keys()];
  const digests = new Map(images.map((one) => [one, askRegistry(one)]));
  const written = renderImageLock(text, digests);
  // What a registry answered has to have the form that a release can use.
  parseImageLock(written);
  writeFileSync(LOCK, written);
}

/** Of the list of all platforms, so that one digest holds on each of them. */
function askRegistry(name: string): string {
  const args = ['buildx', 'imagetools', 'inspect', name, '--format', '{{.Manifest.Digest}}'];
  const options = { encoding: 'utf8', timeout: REQUEST_LIMIT_MS } as const;
  return execFileSync('docker', args, options).trim();
}
