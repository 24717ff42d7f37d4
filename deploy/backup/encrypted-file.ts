import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { link, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable, Transform } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';

import { Decrypter, Encrypter } from 'age-encryption';

import { DRAFT } from './backup-folder.ts';

/** The owner of the folder may read; others may not. */
const OWNER_ONLY = 0o600;

/** What stands beside an encrypted file, so that it can be verified with the identity and without. */
export type FileDigests = {
  /** Of the file as it is stored. */
  bytes: number;
  sha256: string;
  /** Of what it holds. */
  plain_bytes: number;
  plain_sha256: string;
};

/**
 * Stores a stream by zstd and age, readable with `age -d -i identity FILE | zstd -d`. The file appears whole and on the
 * disk, or not at all.
 * @throws Error with the code `EEXIST` where the place is taken and `isReplaced` is false
 */
export async function writeEncrypted(
  file: string,
  plain: Readable,
  { recipient, isReplaced = false }: { recipient: string; isReplaced?: boolean },
): Promise<FileDigests> {
  const draft = `${file}.${process.pid}${DRAFT}`;
  const [plainCount, storedCount] = [countBytes(), countBytes()];
  const encrypter = new Encrypter();
  encrypter.addRecipient(recipient);
  try {
    const compressed = createZstdCompress();
    const packing = pipeline(plain, plainCount.tap, compressed);
    // What breaks here breaks the stream that is read below, and is reported there.
    packing.catch(() => undefined);
    const encrypted = await encrypter.encrypt(toWeb(compressed));
    await pipeline(
      Readable.fromWeb(encrypted as ReadableStream<Uint8Array>),
      storedCount.tap,
      createWriteStream(draft, { mode: OWNER_ONLY, flush: true }),
    );
    await packing;
    await place(draft, file, isReplaced);
  } finally {
    await rm(draft, { force: true });
  }
  return {
    bytes: storedCount.bytes(),
    sha256: storedCount.digest(),
    plain_bytes: plainCount.bytes(),
    plain_sha256: plainCount.digest(),
  };
}

/** A small text, in the same way and without encryption. */
export async function writeDurably(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}${DRAFT}`;
  try {
    await pipeline(
      Readable.from([text]),
      createWriteStream(draft, { mode: OWNER_ONLY, flush: true }),
    );
    await place(draft, file, false);
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * What an encrypted file holds. Reading it to its end verifies it.
 * @throws Error at the first byte that is not as it was written, or where the identity is another's
 */
export async function readEncrypted(
  file: string,
  { identity, digests }: { identity: string; digests: FileDigests },
): Promise<Readable> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  const stored = countBytes();
  const source = createReadStream(file);
  const reading = pipeline(source, stored.tap);
  reading.catch(() => undefined);
  const decrypted = await decrypter.decrypt(toWeb(stored.tap));
  const plain = countBytes();
  const verified = new Transform({
    transform: (chunk, _encoding, done) => done(null, chunk),
    flush: (done) => done(plain.digest() === digests.plain_sha256 ? null : changed(file)),
  });
  const unpacking = pipeline(
    Readable.fromWeb(decrypted as ReadableStream<Uint8Array>),
    createZstdDecompress(),
    plain.tap,
    verified,
  );
  unpacking.catch(() => undefined);
  return verified;
}

/** @throws Error where the stored bytes are not those that were written; needs no identity */
export async function verifyStored(file: string, digests: FileDigests): Promise<void> {
  const { tap, digest } = countBytes();
  const reading = pipeline(createReadStream(file), tap);
  tap.resume();
  await reading;
  if (digest() !== digests.sha256) throw changed(file);
}

/** @throws Error where what it holds is not what was put in */
export async function verifyPlain(
  file: string,
  identity: string,
  digests: FileDigests,
): Promise<void> {
  const plain = await readEncrypted(file, { identity, digests });
  plain.resume();
  await finished(plain);
}

function changed(file: string): Error {
  return new Error(`${file}: the bytes are not those that were written`);
}

/** A name in a folder is on the disk once the folder is. */
async function place(draft: string, file: string, isReplaced: boolean): Promise<void> {
  // Unlike a rename, a link takes no place that is taken.
  await (isReplaced ? rename(draft, file) : link(draft, file));
  await using folder = await open(path.dirname(file));
  await folder.sync();
}

function toWeb(stream: Readable): ReadableStream<Uint8Array> {
  return Readable.toWeb(stream) as ReadableStream<Uint8Array>;
}

/** Counts and digests what passes. */
function countBytes() {
  const hash: Hash = createHash('sha256');
  let bytes = 0;
  let digest: string | undefined;
  const tap = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  return { tap, bytes: () => bytes, digest: () => (digest ??= hash.digest('hex')) };
}
