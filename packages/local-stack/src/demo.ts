import type { ReceivedSpan } from '@pixmesh/testkit/otlp-spans';
import { createDemoClient } from './demo/demo-client.ts';
import { followCharge } from './demo/follow-charge.ts';
import { followPayout } from './demo/follow-payout.ts';
import { createTimeline } from './demo/timeline.ts';
import { showTraces } from './demo/show-traces.ts';
import { readStackFile } from './mesh/stack-file.ts';

/**
 * One charge from creation to signed webhooks and one payout of its money, seen from outside: it knows
 * nothing but `stack.json` and the public contracts, and fails as soon as something is not as they say.
 */
export async function runDemo(input: {
  home: string;
  spans: (() => readonly ReceivedSpan[]) | undefined;
}): Promise<void> {
  const client = createDemoClient(readStackFile(input.home));
  const timeline = createTimeline();
  const startedAtNs = BigInt(Date.now()) * 1_000_000n;
  try {
    await followCharge(client, timeline);
    await followPayout(client, timeline);
  } finally {
    timeline.print();
  }
  if (input.spans) await showTraces(input.spans, startedAtNs);
}
