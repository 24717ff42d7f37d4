import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import type { Sample } from './read-samples.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const RUN_MS_MAX = 30_000;
/** Separates the outputs of the samples of one terminal; no sample prints it. */
const SEPARATOR = '\u001e';

/** Samples are read from standard input at the root, so that a sample finds the packages that it names. */
const COMMANDS = {
  js: ['node', '--input-type=module', '-'],
  py: ['python3', '-'],
} as const;

export type SampleEnvironment = Readonly<Record<string, string>>;
export type SampleRun = { readonly stdout: string; readonly stderr: string; readonly code: number };

const PROGRAMS = ['bash', 'curl', 'python3'];

/** What samples need on the machine; each missing program is one line that says what to install. */
export function findMissingPrograms(path: string | undefined = process.env['PATH']): string[] {
  return PROGRAMS.filter(
    (program) => spawnSync(program, ['--version'], { env: { PATH: path } }).status !== 0,
  ).map((program) => `${program} is not on the PATH: install it to run the samples of the guides`);
}

/** Runs a program of its own, as a reader does who saved it to a file. */
export async function runProgram(sample: Sample, env: SampleEnvironment): Promise<SampleRun> {
  const [command, ...args] = commandOf(sample);
  return await run(command, args, { env, input: sample.code });
}

/** Runs shell samples one after the other in one terminal; answers what each printed, by name. */
export async function runTerminal(
  samples: readonly Sample[],
  env: SampleEnvironment,
): Promise<Map<string, string>> {
  const script = samples
    .map(({ name, code }) => `printf '${SEPARATOR}%s\\n' ${name}\n${code}`)
    .join('\n');
  const { stdout, stderr, code } = await run('bash', ['--norc', '-euc', script], { env });
  if (code !== 0) throw new Error(`the terminal ended with ${code}:\n${stdout}${stderr}`);
  const outputs = stdout.split(SEPARATOR).slice(1);
  return new Map(
    outputs.map((output) => {
      const end = output.indexOf('\n');
      return [output.slice(0, end), output.slice(end + 1)];
    }),
  );
}

/** A receiver of a guide as a process of its own, which ends with its owner. */
export async function startReceiver(
  sample: Sample,
  env: SampleEnvironment,
): Promise<{ url: string; output(): string; [Symbol.asyncDispose](): Promise<void> }> {
  const [command, ...args] = commandOf(sample);
  const child = spawn(command, args, { cwd: ROOT, env: baseEnvironment(env) });
  const exited = once(child, 'exit');
  let output = '';
  const listening = new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const port = /^listening on (\d+)$/m.exec(output)?.[1];
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`${sample.name} ended: ${output}`)));
  });
  child.stdin.end(sample.code);
  return {
    url: await listening,
    output: () => output,
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
    },
  };
}

function commandOf({ language, name }: Sample): readonly [string, ...string[]] {
  if (language === 'js' || language === 'py') return COMMANDS[language];
  throw new Error(`${name} is no program`);
}

async function run(
  command: string,
  args: readonly string[],
  { env, input }: { env: SampleEnvironment; input?: string },
): Promise<SampleRun> {
  const child = spawn(command, args, { cwd: ROOT, env: baseEnvironment(env), timeout: RUN_MS_MAX });
  // Who ends before it has read everything says so by its exit code.
  child.stdin.on('error', () => null);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.end(input);
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (code === null) throw new Error(`${command} was ended by ${signal}:\n${stdout}${stderr}`);
  return { stdout, stderr, code };
}

/** A reader's terminal: nothing of the test's own process but the way to programs. */
function baseEnvironment(env: SampleEnvironment): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], HOME: process.env['HOME'], LANG: 'C.UTF-8', ...env };
}
