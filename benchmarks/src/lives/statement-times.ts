import { queryOnce } from '../durable-server.ts';
import { type Stack, withStack } from '../with-stack.ts';

const SHOWN_MAX = 40;

/** Makes the database of a home count its statements from its next start on. */
export async function withStatements(place: Parameters<typeof withStack>[0]): Promise<void> {
  await withStack(place, async ({ postgres_url: url }) => {
    await queryOnce(url, `alter system set shared_preload_libraries = 'pg_stat_statements'`);
    await queryOnce(url, `alter system set pg_stat_statements.track_planning = on`);
  });
}

type StatementTime = {
  role: string;
  text: string;
  calls: string;
  exec_ms: number;
  plan_ms: number;
  wal: string;
};

/** Prints what took the most of the database's time since it was asked last; `lives` null: begins anew. */
export async function printStatements(stack: Stack, lives: number | null): Promise<void> {
  const url = stack.postgres_url;
  if (lives === null) {
    await queryOnce(url, 'create extension if not exists pg_stat_statements');
    await queryOnce(url, 'select pg_stat_statements_reset()');
    return;
  }
  const rows = await queryOnce<StatementTime>(
    url,
    `select rolname as role, regexp_replace(left(query, 400), '\\s+', ' ', 'g') as text, calls,
       total_exec_time as exec_ms, total_plan_time as plan_ms, wal_bytes as wal
     from pg_stat_statements join pg_roles on pg_roles.oid = userid
     order by total_exec_time + total_plan_time desc limit ${SHOWN_MAX}`,
  );
  for (const { role, text, calls, exec_ms: execMs, plan_ms: planMs, wal } of rows) {
    const perLife = [Number(calls), execMs, planMs, Number(wal) / 1_024].map((figure) =>
      (figure / lives).toFixed(2),
    );
    console.log(
      `    ${perLife.join('  ')} KB  each ${(execMs / Number(calls)).toFixed(3)} ms  ${role}  ${text.slice(0, 110)}`,
    );
  }
}
