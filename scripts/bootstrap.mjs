// Entry of every npm script: `node scripts/bootstrap.mjs <entry.ts> [args]`. Runs on the machine's own
// Node (20 or newer), installs what the lockfile names when that has not been done yet, and hands over
// to the Node 24 that was installed with it. Plain JavaScript without dependencies, on purpose.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const LOCKFILE = join(ROOT, 'package-lock.json');
/** Ignored by git like every folder of that name. */
const INSTALL_LOCK = join(ROOT, '.pixmesh-install');
const LOCK_POLL_INTERVAL_MS = 300;
const STAMP = join(ROOT, 'node_modules', '.pixmesh-install');
/** The lockfile has Node for Linux (why it is not the newest: ADR 0033). On macOS this one goes on, and must be as new. */
const NODE =
  process.platform === 'linux'
    ? join(ROOT, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node')
    : process.execPath;
const NODE_MIN = process.platform === 'linux' ? [20, 0] : [24, 20];
const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];
const PARENT_POLL_INTERVAL_MS = 500;
/** How long the child may take to stop after its parent's parent died. */
const ORPHAN_LIMIT_MS = 30_000;
const SIGNAL_EXIT_BASE = 128;
const SIGNAL_NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 };

requireSupportedMachine();
installDependencies();
linkNode();
runEntry(process.argv.slice(2));

function requireSupportedMachine() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1])) {
    fail(`Node ${NODE_MIN.join('.')} or newer is needed; this is ${process.version}`);
  }
  const platform = `${process.platform}-${process.arch}`;
  if (!PLATFORMS.includes(platform)) {
    fail(`${platform} is not supported; supported: ${PLATFORMS.join(', ')}`);
  }
}

/**
 * `npm ci`, unless exactly this lockfile is installed already. It replaces `node_modules` whole, so it
 * must not happen below a running stack, nor twice at once: of two first starts, one waits.
 */
function installDependencies() {
  if (isInstalled()) return;
  takeInstallLock();
  if (!isInstalled()) {
    process.stderr.write('installing dependencies (npm ci); this happens once per lockfile\n');
    const { status, error } = spawnSync(
      'npm',
      ['ci', '--no-audit', '--no-fund', '--loglevel=error'],
      {
        cwd: ROOT,
        // What the entry prints may be a secret that is written to a file: stdout is its alone.
        stdio: ['ignore', process.stderr, 'inherit'],
        env: environmentForInstall(),
      },
    );
    if (error) fail(`npm could not be run (${error.message}); install npm`);
    if (status !== 0) fail('npm ci failed; its messages are above');
    // npm passes over an optional package that it cannot get, or whose archive has another hash.
    if (!existsSync(NODE)) {
      fail(
        `npm ci installed no ${NODE}: the registry lacks it, or has other bytes than the lockfile`,
      );
    }
    writeFileSync(STAMP, lockfileHash());
  }
  releaseInstallLock();
}

/**
 * Tools that are run by `npx` find Node by this link. npm 10 removes it again, as one of the package of the other
 * architecture, which it does not install.
 */
function linkNode() {
  const link = join(ROOT, 'node_modules', '.bin', 'node');
  if (process.platform !== 'linux' || existsSync(link)) return;
  try {
    symlinkSync(relative(dirname(link), NODE), link);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
}

/** The stamp lies inside what it vouches for; an `npm install` by hand is recognised without one. */
function isInstalled() {
  if (!existsSync(NODE)) return false;
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === lockfileHash()) return true;
  if (!holdsWholeLockfile()) return false;
  writeFileSync(STAMP, lockfileHash());
  return true;
}

/** npm notes what it installed in a lockfile of its own, written at the end of an installation. */
function holdsWholeLockfile() {
  try {
    const present = readPackages(join(ROOT, 'node_modules', '.package-lock.json'));
    return Object.entries(readPackages(LOCKFILE)).every(([path, wanted]) => {
      if (!path.startsWith('node_modules/') || wanted.link) return true;
      const installed = present[path];
      if (!installed) return wanted.optional === true;
      return installed.version === wanted.version && installed.integrity === wanted.integrity;
    });
  } catch {
    return false;
  }
}

function readPackages(path) {
  return JSON.parse(readFileSync(path, 'utf8')).packages;
}

function lockfileHash() {
  return createHash('sha256').update(readFileSync(LOCKFILE)).digest('hex');
}

/** A folder, because making one is atomic; it holds its owner's pid, so that a dead owner's is taken over. */
function takeInstallLock() {
  const owner = join(INSTALL_LOCK, 'pid');
  for (let told = false; !tryCreateFolder(INSTALL_LOCK); told = true) {
    if (!told) process.stderr.write('another process is installing dependencies; waiting for it\n');
    sleep(LOCK_POLL_INTERVAL_MS);
    if (!isRunning(owner)) releaseInstallLock();
  }
  writeFileSync(owner, String(process.pid));
  process.once('exit', releaseInstallLock);
}

function releaseInstallLock() {
  process.off('exit', releaseInstallLock);
  rmSync(INSTALL_LOCK, { recursive: true, force: true });
}

function tryCreateFolder(path) {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function isRunning(pidFile) {
  try {
    process.kill(Number(readFileSync(pidFile, 'utf8')), 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function sleep(milliseconds) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** `npm start` hands its own settings down as `npm_*`, which a second npm would take for its own. */
function environmentForInstall() {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'));
  return Object.fromEntries(kept);
}

function runEntry([entry, ...args]) {
  if (!entry) fail('usage: node scripts/bootstrap.mjs <entry.ts> [args]');
  const bin = [dirname(NODE), join(ROOT, 'node_modules', '.bin')].join(':');
  const child = spawn(NODE, [join(ROOT, entry), ...args], {
    stdio: 'inherit',
    env: { ...process.env, PATH: `${bin}:${process.env.PATH ?? ''}` },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !reachesForegroundGroup()) child.kill(signal);
    });
  }
  followParent(child);
  child.once('error', (error) => fail(`${NODE} could not be run: ${error.message}`));
  child.once('exit', (code, signal) => {
    process.exit(code ?? SIGNAL_EXIT_BASE + (SIGNAL_NUMBERS[signal] ?? 0));
  });
}

/** Ctrl-C reaches every process of the terminal's foreground group: the child has it already. */
function reachesForegroundGroup() {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return group === foreground;
  } catch {
    return process.stdin.isTTY === true;
  }
}

/**
 * An orphan is adopted, so its parent's pid changes: whoever started this is gone, and so are we. npm
 * puts a shell in between, which would outlive it; there the shell's parent is watched as well.
 */
function followParent(child) {
  const read = () =>
    [process.ppid, process.env.npm_lifecycle_event && parentOf(process.ppid)].join();
  const ancestors = read();
  const timer = setInterval(() => {
    if (read() === ancestors) return;
    clearInterval(timer);
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), ORPHAN_LIMIT_MS).unref();
  }, PARENT_POLL_INTERVAL_MS);
  timer.unref();
}

function parentOf(pid) {
  try {
    if (process.platform !== 'linux') {
      return execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    }
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
  } catch {
    return undefined;
  }
}

function fail(message) {
  process.stderr.write(`error: ${message}\n`);
  process.exit(1);
}
