import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '@pixmesh/testkit/eventually';
import { expect, onTestFinished, test } from 'vitest';
import { noProgress } from '../progress.ts';
import { StartupFailure } from '../startup-failure.ts';
import { pidFilePath, readPidFile } from './pid-file.ts';
import { isAlive, readProcessStart } from './process-identity.ts';
import { aChild, aHome } from './stand-in.ts';
import { createSupervisor } from './supervisor.ts';

const MODULES = {
  supervisor: fileURLToPath(new URL('supervisor.ts', import.meta.url)),
  standIn: fileURLToPath(new URL('stand-in.ts', import.meta.url)),
  progress: fileURLToPath(new URL('../progress.ts', import.meta.url)),
};

async function aSupervisor(home = aHome()) {
  const supervisor = await createSupervisor({ home, log: noProgress });
  onTestFinished(() => supervisor.stop());
  return supervisor;
}

const isRunning = (pid: number) => readProcessStart(pid) !== undefined;

test('a killed process is replaced within a second, on record with its new pid', async () => {
  const supervisor = await aSupervisor();
  await supervisor.start(aChild());
  const before = supervisor.pids()['stand-in']!;
  const killedAt = performance.now();
  process.kill(before, 'SIGKILL');
  await eventually(() => {
    const pid = readPidFile(supervisor.home)!.processes[0]?.pid;
    expect(pid).toBeDefined();
    expect(pid).not.toBe(before);
  });
  expect(performance.now() - killedAt).toBeLessThan(1_000);
});

test('a restart on request resolves with another process that is ready', async () => {
  const supervisor = await aSupervisor();
  await supervisor.start(aChild());
  const before = supervisor.pids()['stand-in']!;
  await supervisor.restart('stand-in');
  const after = supervisor.pids()['stand-in']!;
  expect(after).not.toBe(before);
  expect([isRunning(before), isRunning(after)]).toEqual([false, true]);
});

test('a first boot that fails stops the start and shows the last lines of the log', async () => {
  const supervisor = await aSupervisor();
  const script = "console.error('PORT: expected a number'); process.exit(3);";
  const broken = aChild({ script, isReady: async () => false });
  const failure = await supervisor.start(broken).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StartupFailure);
  expect((failure as StartupFailure).message).toContain('stand-in ended with exit code 3');
  expect((failure as StartupFailure).logLines).toContain('PORT: expected a number');
});

test('higher stages have ended before lower ones are asked to', async () => {
  const supervisor = await aSupervisor();
  const trace = join(supervisor.home, 'trace');
  const note = (word: string) => `fs.appendFileSync(${JSON.stringify(trace)}, '${word} ')`;
  const slow = (name: string) =>
    `process.on('SIGTERM', () => { ${note(`${name}:asked`)};
      setTimeout(() => { ${note(`${name}:ended`)}; process.exit(0); }, 150); });`;
  await supervisor.start(aChild({ name: 'postgres', stage: 10, script: slow('postgres') }));
  await supervisor.start(aChild({ name: 'service', stage: 60, script: slow('service') }));
  await supervisor.stop();
  expect(readFileSync(trace, 'utf8').trim().split(' ')).toEqual([
    'service:asked',
    'service:ended',
    'postgres:asked',
    'postgres:ended',
  ]);
});

test('a process that ignores the polite signal is killed after its limit', async () => {
  const supervisor = await aSupervisor();
  const script = "process.on('SIGTERM', () => {});";
  await supervisor.start(aChild({ script, stopLimitMs: 200 }));
  const pid = supervisor.pids()['stand-in']!;
  await supervisor.stop();
  expect(isRunning(pid)).toBe(false);
  expect(existsSync(pidFilePath(supervisor.home))).toBe(false);
});

test('a home belongs to one supervisor at a time', async () => {
  const supervisor = await aSupervisor();
  await expect(createSupervisor({ home: supervisor.home, log: noProgress })).rejects.toThrow(
    'already running',
  );
});

/** A supervisor in a process of its own, with one child that would survive a lost parent. */
async function aForeignSupervisor(home: string) {
  const code = `
    import { createSupervisor } from '${MODULES.supervisor}';
    import { aChild } from '${MODULES.standIn}';
    import { noProgress } from '${MODULES.progress}';
    const supervisor = await createSupervisor({ home: '${home}', log: noProgress });
    await supervisor.start(aChild({ script: "require('node:child_process').spawn('sleep', ['300'])" }));
    console.log('up');
    setInterval(() => {}, 1000);`;
  const script = join(home, 'supervise.ts');
  writeFileSync(script, code);
  const foreign = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => foreign.stdout.once('data', resolve));
  const file = readPidFile(home)!;
  return { pid: foreign.pid!, file, child: file.processes[0]! };
}

test('the guardian ends everything when the supervisor is killed', async () => {
  const home = aHome();
  const { pid, child } = await aForeignSupervisor(home);
  process.kill(pid, 'SIGKILL');
  await eventually(() => {
    expect(isAlive(child)).toBe(false);
    expect(existsSync(pidFilePath(home))).toBe(false);
  });
});

test('a killed guardian is replaced and does its work', async () => {
  const home = aHome();
  const { pid, child, file } = await aForeignSupervisor(home);
  process.kill(file.guardian!.pid, 'SIGKILL');
  await eventually(() => expect(readPidFile(home)!.guardian!.pid).not.toBe(file.guardian!.pid));
  process.kill(pid, 'SIGKILL');
  await eventually(() => expect(isAlive(child)).toBe(false));
});

test('the next start ends what a SIGKILL of supervisor and guardian left', async () => {
  const home = aHome();
  const { pid, child, file } = await aForeignSupervisor(home);
  process.kill(file.guardian!.pid, 'SIGSTOP');
  process.kill(pid, 'SIGKILL');
  process.kill(file.guardian!.pid, 'SIGKILL');
  await eventually(() => expect(isAlive(file.supervisor)).toBe(false));
  expect(isAlive(child)).toBe(true);
  await aSupervisor(home);
  expect(isAlive(child)).toBe(false);
});
