import { context, ROOT_CONTEXT, SpanKind, trace, TraceFlags } from '@opentelemetry/api';
import { SamplingDecision } from '@opentelemetry/sdk-trace';
import { expect, test } from 'vitest';

import { createSampler } from './sampler.ts';

const EARLY = '00000000000000000000000000000001';
const LATE = 'ffffffff000000000000000000000001';

function decide(share: string | undefined, traceId: string, parent?: { isSampled: boolean }) {
  const sampler = createSampler(share === undefined ? {} : { OTEL_TRACES_SAMPLER_ARG: share });
  const traceFlags = parent?.isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  const remote = { traceId, spanId: '00000000000000aa', traceFlags, isRemote: true };
  const within = parent ? trace.setSpanContext(ROOT_CONTEXT, remote) : context.active();
  return sampler.shouldSample(within, traceId, 'a', SpanKind.SERVER, {}, []).decision;
}

const KEPT = SamplingDecision.RECORD_AND_SAMPLED;

test('every trace is kept without a share, whatever the caller says', () => {
  expect(decide(undefined, LATE)).toBe(KEPT);
  expect(decide(undefined, LATE, { isSampled: false })).toBe(KEPT);
  expect(decide('', LATE)).toBe(KEPT);
});

test('a share decides by the id alone, the same for a trace that begins here and for one that came', () => {
  for (const parent of [undefined, { isSampled: true }, { isSampled: false }]) {
    expect(decide('0.5', EARLY, parent)).toBe(KEPT);
    expect(decide('0.5', LATE, parent)).toBe(SamplingDecision.NOT_RECORD);
  }
});

test('what is no share ends the start', () => {
  expect(() => createSampler({ OTEL_TRACES_SAMPLER_ARG: 'half' })).toThrow('from 0 to 1');
  expect(() => createSampler({ OTEL_TRACES_SAMPLER_ARG: '1.5' })).toThrow('from 0 to 1');
});
