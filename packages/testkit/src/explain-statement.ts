import type { Queryable } from '@pixmesh/postgres/pool';
import { render, sql, type Statement } from '@pixmesh/postgres/sql';

type PlanNode = {
  'Node Type': string;
  'Index Name'?: string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: PlanNode[];
};

/** What a statement did when it ran. */
export type Explained = {
  /** How tables were read: an index's name, or the kind of scan where it is no plain scan of an index. */
  scans: string[];
  /** Rows of tables that were looked at, those included that a filter dropped. */
  rowsRead: number;
  /** Pages that were looked at: what an index walks over without a row shows here alone. */
  pagesRead: number;
};

/** Runs a statement and returns what it read. */
export async function explainStatement(db: Queryable, statement: Statement): Promise<Explained> {
  const [answer] = await db.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    sql`explain (analyze, buffers, timing off, format json) ${statement}`,
  );
  if (!answer) throw new Error('no plan');
  const root = answer['QUERY PLAN'][0].Plan;
  const reads = nodesOf(root).filter((node) => node['Relation Name'] !== undefined);
  return {
    scans: [...new Set(reads.map(nameOf))].sort(),
    rowsRead: Math.round(reads.reduce((sum, node) => sum + rowsOf(node), 0)),
    pagesRead: root['Shared Hit Blocks'] + root['Shared Read Blocks'],
  };
}

/** The plan that a session keeps of a statement under `plan_cache_mode = force_generic_plan`: made without its values. */
export async function explainKeptPlan(db: Queryable, statement: Statement): Promise<string> {
  const text = `explain (generic_plan, costs off) ${render(statement).text}`;
  const rows = await db.query<{ 'QUERY PLAN': string }>(
    sql(Object.assign([text], { raw: [text] })),
  );
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

function nameOf(node: PlanNode): string {
  const isPlain = node['Node Type'] === 'Index Scan' || node['Node Type'] === 'Index Only Scan';
  return isPlain ? (node['Index Name'] ?? '') : node['Node Type'];
}

function rowsOf(node: PlanNode): number {
  return (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
}
