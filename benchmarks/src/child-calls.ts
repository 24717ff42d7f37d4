import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** What a child process answers, by name; one argument each. */
type Calls = Record<string, (input: never) => unknown>;

export type Child<Answers extends Calls> = AsyncDisposable & {
  readonly pid: number;
  call<Name extends keyof Answers & string>(
    name: Name,
    input: Parameters<Answers[Name]>[0],
  ): Promise<Awaited<ReturnType<Answers[Name]>>>;
};

type Request = { id: number; name: string; input: unknown };
type Reply = { id: number; output?: unknown; error?: string };

/** A server that stands beside the mesh. */
export type BaselineCalls = { url(input: object): string };

/** Starts a module that ends with `answerCalls`, as a process of its own, so that its CPU time is counted apart. */
export function startChild<Answers extends Calls>(
  module: URL,
  settings: NodeJS.ProcessEnv = {},
): Child<Answers> {
  const env = { ...process.env, NODE_ENV: 'production', ...settings };
  const child = fork(fileURLToPath(module), { env });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  child.on('message', ({ id, output, error }: Reply) => {
    const reply = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) reply?.resolve(output);
    else reply?.reject(new Error(error));
  });
  child.once('exit', (code) => {
    for (const reply of waiting.values()) reply.reject(new Error(`${module.pathname}: ${code}`));
  });
  return {
    pid: child.pid ?? 0,
    call: async (name, input) => {
      const reply = Promise.withResolvers<unknown>();
      lastId += 1;
      waiting.set(lastId, reply);
      child.send({ id: lastId, name, input } satisfies Request);
      return (await reply.promise) as never;
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
}

/** The child's side of `startChild`; the process ends with its parent. */
export function answerCalls<Answers extends Calls>(answers: Answers): void {
  process.on('disconnect', () => process.exit());
  process.on('message', ({ id, name, input }: Request) => {
    void answer(answers[name] as ((input: unknown) => unknown) | undefined, input).then((reply) =>
      process.send?.({ id, ...reply }),
    );
  });
}

async function answer(
  call: ((input: unknown) => unknown) | undefined,
  input: unknown,
): Promise<Omit<Reply, 'id'>> {
  try {
    return { output: await call?.(input) };
  } catch (error) {
    return { error: (error as Error).stack ?? String(error) };
  }
}
