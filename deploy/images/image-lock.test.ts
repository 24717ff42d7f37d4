import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { parseImageLock, pinned, renderImageLock } from './image-lock.ts';

const DIGEST = `sha256:${'ab'.repeat(32)}`;
const TEXT = `# why\nnode:24-slim ${DIGEST}\nredis:8 -\n`;
const root = new URL('../../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');

describe('the lock of images', () => {
  it('pins an image to its digest, and refuses one without', () => {
    const lock = parseImageLock(TEXT);
    expect(pinned(lock, 'node:24-slim')).toBe(`node:24-slim@${DIGEST}`);
    expect(() => pinned(lock, 'redis:8')).toThrow('no digest of redis:8');
    expect(() => pinned(lock, 'postgres:18')).toThrow('no digest of postgres:18');
  });

  it('takes other digests and keeps comments and order', () => {
    const written = renderImageLock(TEXT, new Map([['redis:8', DIGEST]]));
    expect(written).toBe(TEXT.replace('redis:8 -', `redis:8 ${DIGEST}`));
  });

  it.each(['node:24-slim', 'node:24-slim sha256:12', 'node:24-slim latest', `a ${DIGEST} b`])(
    'refuses the line %j',
    (line) => {
      expect(() => parseImageLock(line)).toThrow('images.lock');
    },
  );

  it('has every image that the Dockerfile and the compose file name, and no other', () => {
    const [, base] = /^ARG NODE_IMAGE=(\S+)$/m.exec(read('deploy/Dockerfile')) ?? [];
    const run = [...read('docker-compose.yml').matchAll(/^ +image: (\S+)$/gm)].map(
      ([, one]) => one,
    );
    const published = run.filter((image) => !image?.startsWith('pixmesh/'));
    const locked = [...parseImageLock(read('deploy/images.lock')).keys()];
    expect(locked.toSorted()).toEqual([base, ...published].toSorted());
  });
});
