import { durationHistogram } from '@pixmesh/telemetry/metrics';

const duration = durationHistogram(
  'http_client_duration_seconds',
  'Time until another service of the mesh has answered a call, all its tries and its wait for a turn included',
);

/** Measures a call by its callee, its method and the class of its answer; `none` where there was no answer. */
export async function observeUpstream<Answer extends { status: number }>(
  labels: { upstream: string; method: string },
  call: () => Promise<Answer>,
): Promise<Answer> {
  const startedMs = performance.now();
  let outcome = 'none';
  try {
    const answer = await call();
    outcome = `${Math.floor(answer.status / 100)}xx`;
    return answer;
  } finally {
    duration.record((performance.now() - startedMs) / 1000, { ...labels, outcome });
  }
}
