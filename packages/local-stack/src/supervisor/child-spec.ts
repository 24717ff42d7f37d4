/** What a started process tells its ready check. */
export interface ChildRun {
  pid: number;
  /** What this run, and no earlier one, has written to its log so far. */
  output(): string;
}

/** A program and what it is run with. */
export interface ProgramSpec {
  name: string;
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  /** Cleans what a crash left, and lays out files; runs before every start. */
  prepare?: (() => Promise<void>) | undefined;
  /** Runs as this user where the supervisor is root and the program refuses to be. */
  owner?: { uid: number; gid: number } | undefined;
}

/** One long-lived process of the stack: how it is started, known to be ready, and ended. */
export interface ChildSpec extends ProgramSpec {
  /** Higher stages are stopped first. */
  stage: number;
  stopSignal: NodeJS.Signals;
  stopLimitMs: number;
  readyLimitMs: number;
  /** Asked again and again until it answers true; must speak of this run's process. */
  isReady(run: ChildRun): Promise<boolean>;
}

/** A process that is run once, to its end. */
export interface JobSpec extends ProgramSpec {
  limitMs: number;
}

/** Order of stopping: what others depend on goes last. */
export const STAGES = { job: 70, service: 60, registry: 40, kafka: 30, redis: 20, postgres: 10 };
