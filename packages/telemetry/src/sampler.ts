import {
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';

/** Of all traces, unless `OTEL_TRACES_SAMPLER_ARG` says another share. */
const EVERYTHING = 1;

/**
 * The share of traces that is kept, decided where a trace begins and followed by every service behind: a trace is there
 * as a whole or not at all. What callers from outside decide about sampling does not count; the decision of the edge
 * comes from the id alone. Errors are kept by the collector, which sees a trace's end
 * (`deploy/observability/otel-collector.yml`): send it all of them.
 * @throws Error where the share is no number from 0 to 1
 */
export function createSampler(env: NodeJS.ProcessEnv): Sampler {
  const share = Number(env['OTEL_TRACES_SAMPLER_ARG'] || EVERYTHING);
  if (!(share >= 0 && share <= 1)) {
    throw new Error('OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1');
  }
  // A caller's own decision not to sample would leave its whole request without a trace.
  if (share === EVERYTHING) return new AlwaysOnSampler();
  const byId = new TraceIdRatioBasedSampler(share);
  // By the id on every side: services agree about it without asking, and a caller's flag decides nothing.
  return new ParentBasedSampler({
    root: byId,
    remoteParentSampled: byId,
    remoteParentNotSampled: byId,
  });
}
