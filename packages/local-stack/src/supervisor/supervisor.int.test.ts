import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '@pixmesh/testkit/eventually';
import { expect, onTestFinished, test } from 'vitest';
import { noProgress } from '../progress.ts';
import { StartupFailure } from '../startup-failure.ts';
import { pidFilePath, readPidFile, writePidFile } from './pid-file.ts';
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

test('a killed process is replaced within seconds, on record with its new pid', async () => {
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
  expect(performance.now() - killedAt).toBeLessThan(5_000);
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

/** A child that notes its starts in a file, and there also that another one of it runs, if one does. */
function aLoneChild(home: string) {
  const starts = join(home, 'starts');
  const script = `const running = ${JSON.stringify(join(home, 'running'))};
    if (fs.existsSync(running)) fs.appendFileSync('${starts}', 'second ');
    fs.writeFileSync(running, '');
    fs.appendFileSync('${starts}', process.pid + ' ');
    process.on('SIGTERM', () => setTimeout(() => { fs.rmSync(running); process.exit(0); }, 200));`;
  return { script, starts: () => readFileSync(starts, 'utf8').trim().split(' ') };
}

test('restarts that are asked for while the process still ends are one', async () => {
  const supervisor = await aSupervisor();
  const { script, starts } = aLoneChild(supervisor.home);
  await supervisor.start(aChild({ script }));
  await Promise.all([1, 2, 3].map(() => supervisor.restart('stand-in')));
  expect(starts()).toEqual([expect.any(String), String(supervisor.pids()['stand-in'])]);
});

test('restarts that are asked for while a new process boots are one more, after it', async () => {
  const supervisor = await aSupervisor();
  const { script, starts } = aLoneChild(supervisor.home);
  let isHeldBack = false;
  const { isReady, ...child } = aChild({ script });
  await supervisor.start({ ...child, isReady: async (run) => !isHeldBack && isReady(run) });
  isHeldBack = true;
  const first = supervisor.restart('stand-in');
  await eventually(() => expect(starts()).toHaveLength(2));
  const further = [1, 2].map(() => supervisor.restart('stand-in'));
  isHeldBack = false;
  await Promise.all([first, ...further]);
  expect(starts()).toHaveLength(3);
  expect(starts()).not.toContain('second');
  expect(starts().map(Number).filter(isRunning)).toEqual([supervisor.pids()['stand-in']]);
});

test('what a restart has brought back is not revived as well', async () => {
  const supervisor = await aSupervisor();
  const broken = join(supervisor.home, 'broken');
  const { script, starts } = aLoneChild(supervisor.home);
  const dies = `if (fs.existsSync('${broken}')) process.exit(1);`;
  await supervisor.start(aChild({ script: dies + script }));
  writeFileSync(broken, '');
  await expect(supervisor.restart('stand-in')).rejects.toThrow('ended with exit code 1');
  rmSync(broken);
  await supervisor.restart('stand-in');
  await supervisor.stop();
  expect(starts()).toHaveLength(2);
});

test('a stop during a restart leaves no process', async () => {
  const supervisor = await aSupervisor();
  const { script, starts } = aLoneChild(supervisor.home);
  await supervisor.start(aChild({ script }));
  const [restart] = await Promise.allSettled([supervisor.restart('stand-in'), supervisor.stop()]);
  expect(restart).toMatchObject({ reason: new StartupFailure('stand-in is being stopped') });
  expect(starts().map(Number).filter(isRunning)).toEqual([]);
});

test('restarts of what another one keeps come one after the other', async () => {
  const supervisor = await aSupervisor();
  const trace: string[] = [];
  supervisor.restartsBy('kept', async ({ of = '' }) => {
    trace.push(`${of} begins`);
    await Promise.resolve();
    trace.push(`${of} ends`);
  });
  await Promise.all(['a', 'b'].map((of) => supervisor.restart('kept', { of })));
  expect(trace).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
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

test('of two starts at once one takes over what a killed run left', async () => {
  const home = aHome();
  mkdirSync(join(home, 'run'));
  writePidFile(home, { guardian: null, runMark: 'PIXMESH_STACK_RUN=killed', processes: [] });
  const killed = { ...readPidFile(home)!, supervisor: { pid: process.pid, startedAt: 'before' } };
  writeFileSync(pidFilePath(home), JSON.stringify(killed));
  const starts = await Promise.allSettled([aSupervisor(home), aSupervisor(home)]);
  expect(starts.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(starts[1]).toMatchObject({
    reason: new StartupFailure(`${home} is being taken by another start`),
  });
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
