const DIGEST = /^sha256:[0-9a-f]{64}$/;
const UNKNOWN = '-';
const REFRESH = 'node scripts/bootstrap.mjs deploy/images/main.ts refresh';

/** Image by tag, as the Dockerfile and the compose file name it → its digest, null where none is known. */
export type ImageLock = ReadonlyMap<string, string | null>;

/** @throws Error naming the line that is not `image digest` */
export function parseImageLock(text: string): ImageLock {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const [image = '', digest = '', ...rest] = line.split(' ');
      const isRight = image !== '' && (digest === UNKNOWN || DIGEST.test(digest));
      if (!isRight || rest.length > 0) throw new Error(`images.lock: not "image digest": ${line}`);
      return [image, digest === UNKNOWN ? null : digest];
    }),
  );
}

/** The text with other digests; comments and order stay. */
export function renderImageLock(text: string, digests: ImageLock): string {
  const lines = text.split('\n').map((line) => {
    const [image = ''] = line.split(' ');
    const digest = digests.get(image);
    return digest === undefined ? line : `${image} ${digest ?? UNKNOWN}`;
  });
  return lines.join('\n');
}

/**
 * `image:tag@sha256:…`, which names the same bytes for ever.
 * @throws Error where the lock has no digest of it
 */
export function pinned(lock: ImageLock, image: string): string {
  const digest = lock.get(image) ?? null;
  if (digest === null) throw new Error(missing([image]));
  return `${image}@${digest}`;
}

/** @throws Error in one line that names each image without a digest, and the command that asks for them */
export function requireDigests(lock: ImageLock): void {
  const without = [...lock].filter(([, digest]) => digest === null).map(([image]) => image);
  if (without.length > 0) throw new Error(missing(without));
}

function missing(images: readonly string[]): string {
  return `deploy/images.lock has no digest of ${images.join(', ')}: fill it in by \`${REFRESH}\``;
}
