import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  auditFolder,
  BASE_ARCHIVE,
  baseFolder,
  descriptionPath,
  encryptedPath,
  listBases,
  listWhole,
  manifestPath,
  readBases,
  type StoredBase,
  walFolder,
} from './backup-folder.ts';
import { checkBackup } from './check-backup.ts';
import { restoreBase } from './restore-base.ts';
import { takeBaseBackup } from './take-base-backup.ts';
import {
  type BackedUpServer,
  startBackedUpServer,
  startServer,
} from './testing/backed-up-server.ts';
import { isSegment } from './wal-segments.ts';

/** A server of its own, whose base backup and archive are restored beside it. */
let server: BackedUpServer;
/** Between the first row and the third; the second stands at it. */
let moment: Date;

beforeAll(async () => {
  server = await startBackedUpServer();
  await server.run('create table payments (id int primary key, note text)');
  await server.run("insert into payments values (1, 'before the base backup')");
  await takeBaseBackup(server.env);
  await server.run("insert into payments values (2, 'after the base backup')");
  moment = await server.now();
  await server.run("insert into payments values (3, 'after the moment')");
  await server.archiveAll();
}, 120_000);
afterAll(() => server[Symbol.asyncDispose]());

/** `npm run backup -- …`, as one process. */
function runCommand(command: string, env: NodeJS.ProcessEnv = server.env) {
  const entry = path.join(import.meta.dirname, 'main.ts');
  return spawnSync(process.execPath, [entry, ...command.split(' ')], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
}

describe('a backup', () => {
  test('is whole, and says up to when', async () => {
    const report = await checkBackup(server.env);
    expect(report).toMatchObject({ problems: [], bases: 1, isDecrypted: true });
    expect(Date.parse(report.newestWal ?? '')).toBeGreaterThan(moment.getTime());
  });

  test('is verified in part without the identity', async () => {
    const { BACKUP_IDENTITY: _identity, ...env } = server.env;
    expect(await checkBackup(env)).toMatchObject({ problems: [], isDecrypted: false });
  });

  test('with one broken byte is found, at its file', async () => {
    const [base] = listBases(server.folder);
    const file = path.join(base?.folder ?? '', BASE_ARCHIVE);
    const bytes = readFileSync(file);
    const broken = Buffer.from(bytes);
    broken[broken.length >> 1]! ^= 1;
    writeFileSync(file, broken);
    try {
      const { problems } = await checkBackup(server.env);
      expect(problems).toEqual([expect.stringContaining(BASE_ARCHIVE)]);
      const to = path.join(server.home, 'broken');
      await expect(restoreBase({ to, at: moment }, server.env)).rejects.toThrow(
        /tag|invalid|not those/,
      );
      expect(existsSync(to)).toBe(false);
    } finally {
      writeFileSync(file, bytes);
    }
  });

  test('says which segment is missing behind a base backup', async () => {
    const [base] = listBases(server.folder);
    const needed = descriptionPath(walFolder(server.folder), base?.manifest.last_segment ?? '');
    const text = readFileSync(needed, 'utf8');
    rmSync(needed);
    try {
      const { problems } = await checkBackup(server.env);
      expect(problems).toContainEqual(expect.stringContaining('is not archived'));
    } finally {
      writeFileSync(needed, text);
    }
  });

  test('with descriptions that cannot be read is verified but for these, and restored from what is left', async () => {
    const folder = path.join(baseFolder(server.folder), '20990101T000000Z');
    const audit = auditFolder(server.folder);
    const unreadable = [
      manifestPath(folder),
      descriptionPath(walFolder(server.folder), '0000000E00000000000000AA'),
      descriptionPath(audit, '20990101T000000Z'),
    ];
    for (const place of [folder, audit]) mkdirSync(place, { recursive: true });
    for (const file of unreadable) writeFileSync(file, '{"bytes":1');
    const to = path.join(server.home, 'from-the-older');
    try {
      const report = await checkBackup(server.env);
      for (const file of unreadable) {
        expect(report.problems).toContainEqual(
          expect.stringContaining(`${file}: not in the form of this file`),
        );
      }
      expect(report.bases).toBe(1);
      rmSync(unreadable[1]!);
      const restored = await restoreBase({ to, at: moment }, server.env);
      expect(restored.base.folder).toBe(readBases(server.folder).bases[0]?.folder);
      expect(restored.passedOver).toEqual([expect.stringContaining(unreadable[0]!)]);
    } finally {
      for (const file of unreadable) rmSync(file, { force: true });
      for (const place of [folder, to, `${to}.wal`])
        rmSync(place, { recursive: true, force: true });
    }
  });
});

describe('a base backup', () => {
  test('first deletes what one that was killed left', () => {
    const killed = aFolderOf('20260101T000000Z');
    writeFileSync(path.join(killed, `${BASE_ARCHIVE}.17.draft`), 'part');
    utimesSync(killed, new Date(0), new Date(0));
    const { folder } = takeByCommand();
    expect([killed, folder].map((place) => existsSync(place))).toEqual([false, true]);
    rmSync(folder, { recursive: true });
  });

  test('that is whole succeeds where older ones cannot be deleted, and says so', () => {
    const broken = aFolderOf('20260102T000000Z');
    writeFileSync(manifestPath(broken), '{}');
    const { status, folder, stderr } = takeByCommand();
    rmSync(broken, { recursive: true });
    expect([status, existsSync(manifestPath(folder))]).toEqual([0, true]);
    expect(stderr).toContain('backup: old files were not deleted');
    rmSync(folder, { recursive: true });
  });

  test('of another cluster is not taken into the same folder', async () => {
    const [{ manifest }] = listBases(server.folder) as [StoredBase];
    const other = aFolderOf('20990101T000000Z');
    writeFileSync(manifestPath(other), JSON.stringify({ ...manifest, system_identifier: '1' }));
    const before = readdirSync(baseFolder(server.folder));
    await expect(takeBaseBackup(server.env)).rejects.toThrow('this one has backups of 1');
    expect(readdirSync(baseFolder(server.folder))).toEqual(before);
    rmSync(other, { recursive: true });
  });

  function aFolderOf(name: string): string {
    const folder = path.join(baseFolder(server.folder), name);
    mkdirSync(folder);
    return folder;
  }

  function takeByCommand(): { status: number | null; folder: string; stderr: string } {
    const run = runCommand('base', { ...server.env, BACKUP_KEEP_DAYS: '7' });
    const { folder } = JSON.parse(run.stdout) as { folder: string };
    return { status: run.status, folder, stderr: run.stderr };
  }
});

describe('the archive', () => {
  const archiveFile = (file: string) =>
    spawnSync(process.execPath, [
      path.join(import.meta.dirname, 'archive-wal.ts'),
      '--to',
      server.folder,
      '--recipient',
      server.recipient,
      file,
    ]);

  test('takes the same segment once more, and never another one of its name', () => {
    const name = '0000000F00000000000000AA';
    const file = path.join(server.home, name);
    writeFileSync(file, 'one');
    expect(archiveFile(file).status).toBe(0);
    const stored = readFileSync(encryptedPath(walFolder(server.folder), name));
    expect(archiveFile(file).status).toBe(0);
    writeFileSync(file, 'another');
    const refused = archiveFile(file);
    expect([refused.status, String(refused.stderr)]).toEqual([1, expect.stringContaining(name)]);
    expect(readFileSync(encryptedPath(walFolder(server.folder), name))).toEqual(stored);
    rmSync(encryptedPath(walFolder(server.folder), name));
    rmSync(descriptionPath(walFolder(server.folder), name));
  });

  test('holds nothing that can be read without the identity', () => {
    for (const name of listWhole(walFolder(server.folder))) {
      const bytes = readFileSync(encryptedPath(walFolder(server.folder), name));
      expect(bytes.subarray(0, 21).toString('latin1')).toBe('age-encryption.org/v1');
      expect(bytes.includes('base backup')).toBe(false);
    }
  });
});

describe('a restore', () => {
  test('to a moment has the rows of that moment, and no later one', async () => {
    const { home, dataFolder } = server.anotherHome('restored');
    const restored = await restoreBase({ to: dataFolder, at: moment }, server.env);
    expect(restored.segments).toBeGreaterThan(0);
    await using other = await startServer(home);
    await using db = createPool({ url: other.url, applicationName: 'restored', max: 1 });
    await eventually(async () => {
      expect(await db.query(sql`select pg_is_in_recovery() as recovering`)).toEqual([
        { recovering: false },
      ]);
    }, 60_000);
    expect(await db.query(sql`select id, note from payments order by id`)).toEqual([
      { id: 1, note: 'before the base backup' },
      { id: 2, note: 'after the base backup' },
    ]);
  }, 120_000);

  test('to the end of the archive does not take a segment that cannot be read for that end', async () => {
    const { home, dataFolder } = server.anotherHome('unreadable');
    const restored = await restoreBase({ to: dataFolder, at: 'latest' }, server.env);
    const last = readdirSync(restored.walFolder).filter(isSegment).toSorted().at(-1) ?? '';
    chmodSync(path.join(restored.walFolder, last), 0);
    await expect(startServer(home)).rejects.toThrow('postgres');
    expect(readFileSync(path.join(home, 'logs/postgres.log'), 'utf8')).toContain(
      `could not restore file "${last}" from archive`,
    );
  }, 120_000);

  test('that broke off while the WAL was laid out can be run again', async () => {
    const [base] = listBases(server.folder);
    const needed = encryptedPath(walFolder(server.folder), base?.manifest.last_segment ?? '');
    const bytes = readFileSync(needed);
    const to = path.join(server.home, 'again');
    const broken = Buffer.from(bytes);
    broken[broken.length >> 1]! ^= 1;
    writeFileSync(needed, broken);
    try {
      await expect(restoreBase({ to, at: moment }, server.env)).rejects.toThrow(
        /tag|invalid|not those/,
      );
    } finally {
      writeFileSync(needed, bytes);
    }
    const restored = await restoreBase({ to, at: moment }, server.env);
    expect(readdirSync(restored.walFolder)).toHaveLength(restored.segments);
  });

  test.each([
    { when: 'before any base backup', at: () => new Date(0), expected: 'ended before --at' },
    {
      when: 'behind the archive',
      at: () => new Date(Date.now() + 1e9),
      expected: 'end of the archive',
    },
  ])('to a moment $when is refused', async ({ at, expected }) => {
    const to = path.join(server.home, 'refused');
    await expect(restoreBase({ to, at: at() }, server.env)).rejects.toThrow(expected);
  });

  test('to a moment that would be cut to an earlier one is refused', () => {
    const at = moment.toISOString().replace('Z', '456Z');
    const { status, stderr } = runCommand(`restore --to ${server.home}/finer --at ${at}`);
    expect([status, stderr]).toEqual([1, expect.stringContaining('to the millisecond at most')]);
  });
});
