import type { Writable } from 'node:stream';

import type pg from 'pg';

/** What a message of the copy begins with, since Postgres 15. */
const NEW_ARCHIVE = 0x6e;
const MANIFEST = 0x6d;
const DATA = 0x64;

/** Where the copy began or ended, as the server says it. */
export type BackupEdge = { lsn: string; timeline: number };

type Message = { chunk: Buffer };
type Row = { fields: (Buffer | string | null)[] };

const COMMAND =
  "BASE_BACKUP (LABEL 'pixmesh', CHECKPOINT 'fast', WAIT true, WAL false, MANIFEST 'yes', MANIFEST_CHECKSUMS 'SHA256')";

/**
 * Asks a server for a copy of its data folder over a replication connection, as `pg_basebackup` does: between
 * `pg_backup_start` and `pg_backup_stop` the server sends every file as one tar archive, and the list of the files with
 * their digests. It resolves when the server has archived the WAL that the copy needs.
 * @throws Error of the server; where it has tablespaces besides its own folder
 */
export async function receiveBaseBackup(
  client: pg.Client,
  into: { archive: Writable; manifest: Writable },
): Promise<{ start: BackupEdge; stop: BackupEdge }> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const rows: Row[] = [];
  let target: Writable | undefined;
  let archives = 0;
  let failure: Error | undefined;
  const fail = (error: Error) => {
    failure ??= error;
    into.archive.destroy(error);
    into.manifest.destroy(error);
    reject(error);
  };
  const write = (socket: pg.Connection['stream'], bytes: Buffer) => {
    if (failure !== undefined || target === undefined || target.write(bytes)) return;
    // What is written slower than it comes is not kept in memory. What was read with it still comes.
    if (socket.isPaused()) return;
    socket.pause();
    target.once('drain', () => socket.resume());
  };
  /** One that was ended never says that it has room again. */
  const end = (stream: Writable, socket: pg.Connection['stream']) => {
    stream.end();
    socket.resume();
  };
  into.archive.once('error', fail);
  into.manifest.once('error', fail);
  client.once('end', () => fail(new Error('the server has ended the connection')));
  client.query({
    submit: (connection: pg.Connection) => {
      connection.query(COMMAND);
      return null;
    },
    handleRowDescription: () => undefined,
    handleDataRow: (row: Row) => void rows.push(row),
    handleCommandComplete: () => undefined,
    handleCopyInResponse: () => undefined,
    handlePortalSuspended: () => undefined,
    handleEmptyQuery: () => undefined,
    handleCopyData: ({ chunk }: Message, connection: pg.Connection) => {
      const kind = chunk[0];
      if (kind === NEW_ARCHIVE) {
        archives += 1;
        target = into.archive;
        if (archives > 1) fail(new Error('expected no tablespaces besides the data folder'));
      } else if (kind === MANIFEST) {
        end(into.archive, connection.stream);
        target = into.manifest;
      } else if (kind === DATA) {
        // The driver writes the next message into the same memory.
        write(connection.stream, Buffer.from(chunk.subarray(1)));
      }
    },
    handleError: (error: Error, connection: pg.Connection) => {
      fail(error);
      // What is behind it is read, or the connection could not end.
      connection.stream.resume();
    },
    handleReadyForQuery: (connection: pg.Connection) => {
      end(into.manifest, connection.stream);
      resolve();
    },
  } as unknown as pg.Submittable);
  await promise;
  return { start: edgeOf(rows[0]), stop: edgeOf(rows.at(-1)) };
}

function edgeOf(row: Row | undefined): BackupEdge {
  const [lsn, timeline] = row?.fields ?? [];
  return { lsn: String(lsn), timeline: Number(String(timeline)) };
}
