import type { ReceivedSpan } from '@pixmesh/testkit/otlp-spans';

const SERVICE_WIDTH = 20;
const NAME_WIDTH = 58;
/** A trace deeper or longer than this is cut; the demo shows the path of a request, not everything. */
const LINES_MAX = 60;
const DEPTH_MAX = 20;

type Hop = Pick<ReceivedSpan, 'spanId' | 'parentSpanId' | 'name' | 'service' | 'startNs' | 'endNs'>;

/** An indented tree of one trace, children in order of their start: when, how long, where, what. */
export function renderTrace(spans: readonly Hop[]): string[] {
  const known = new Set(spans.map((span) => span.spanId));
  const children = Map.groupBy(spans, (span) =>
    span.parentSpanId !== null && known.has(span.parentSpanId) ? span.parentSpanId : '',
  );
  const startNs = spans.reduce((least, one) => (one.startNs < least ? one.startNs : least), MAX_NS);
  const lines: string[] = [];
  const visit = (parent: string, depth: number) => {
    for (const span of (children.get(parent) ?? []).toSorted(byStart)) {
      lines.push(renderHop(span, { startNs, depth }));
      if (depth < DEPTH_MAX) visit(span.spanId, depth + 1);
    }
  };
  visit('', 0);
  if (lines.length <= LINES_MAX) return lines;
  return [...lines.slice(0, LINES_MAX), `… and ${lines.length - LINES_MAX} more`];
}

const MAX_NS = 2n ** 63n - 1n;

function renderHop(span: Hop, from: { startNs: bigint; depth: number }): string {
  const offset = `+${milliseconds(span.startNs - from.startNs)}`.padStart(9);
  const duration = `${milliseconds(span.endNs - span.startNs)} ms`.padStart(10);
  const name = `${'  '.repeat(from.depth)}${span.name}`.slice(0, NAME_WIDTH);
  return `${offset} ${duration}  ${span.service.padEnd(SERVICE_WIDTH)} ${name}`;
}

function byStart(a: Hop, b: Hop): number {
  return a.startNs === b.startNs ? 0 : a.startNs < b.startNs ? -1 : 1;
}

function milliseconds(ns: bigint): string {
  return (Number(ns / 1_000n) / 1_000).toFixed(1);
}
