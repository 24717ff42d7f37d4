/** What a run did and what came of it, from three sources that are independent of each other. */
export type RunRecord = {
  /** By the publisher: its events, and the destinations of each. */
  events: readonly { eventId: string; destinationIds: readonly string[]; publishedMs: number }[];
  /** By the database. */
  deliveries: readonly RecordedDelivery[];
  /** By the receiver. */
  posts: readonly RecordedPost[];
  deaths: readonly Death[];
  outages: readonly { fromMs: number; toMs: number }[];
  /** Repeats as the senders themselves count them, each until it was last read. */
  counts: readonly { sender: number; fromMs: number; untilMs: number; repeats: number }[];
};

export type RecordedDelivery = {
  id: string;
  eventId: string;
  destinationId: string;
  laneId: string;
  status: string;
  attempts: readonly string[];
};

export type RecordedPost = {
  deliveryId: string;
  /** Which sender's receiver it came to. */
  sender: number;
  begunMs: number;
  /** Null where its connection ended before it was answered. */
  answeredMs: number | null;
};

/** From the signal to when the process that took its place was ready; `sender` is null for intake. */
export type Death = { sender: number | null; atMs: number; readyMs: number };

type FaultKind =
  | 'lost'
  | 'two_rows'
  | 'not_asked_for'
  | 'post_of_nothing'
  | 'attempt_without_post'
  | 'post_without_attempt'
  | 'sent_after_success'
  | 'late'
  | 'too_many_repeats'
  | 'uncounted_repeat';
type Fault = { kind: FaultKind; id: string };

export type Verdict = {
  faults: Fault[];
  /** Posts beyond the attempts that are recorded, and how many requests were in flight, per death of a sender. */
  perDeath: { extra: number; inFlight: number }[];
  extraPosts: number;
  /** The longest wait for a first post, from its event or from the end of what kept it. */
  pickUpMs: number;
};

/** All that is due is picked up this soon after processes and broker are back (D5). */
export const PICK_UP_MS_MAX = 15_000;
/**
 * From an answer to when its outcome is stored: until then its request is in flight. Far more than it takes on a
 * machine of one's own.
 */
const RECORDING_MS_MAX = 2_000;
/** What a death may repeat of one lane: ten requests that are out, and ten outcomes that are not stored (ADR 0046). */
const REPEATS_PER_LANE_MAX = 20;
/** What a dead process had written already may be read a little later. */
const READING_MS_MAX = 500;

/** Compares what was asked for with what was stored and what was received. */
export function verifyDeliveries(record: RunRecord): Verdict {
  const posts = Map.groupBy(
    record.posts.toSorted((a, b) => a.begunMs - b.begunMs),
    ({ deliveryId }) => deliveryId,
  );
  const stored = new Set(record.deliveries.map(({ id }) => id));
  const unknown = [...posts.keys()].filter((id) => !stored.has(id));
  const compared = record.deliveries.map((delivery) =>
    comparePosts(delivery, posts.get(delivery.id) ?? [], record.deaths),
  );
  const cut = compared.flatMap((one) => one.cut);
  const cutByDeath = divideByDeath(record.deaths, cut);
  const pickUps = comparePickUps(record, posts);
  return {
    faults: [
      ...compareRows(record),
      ...unknown.map((id) => ({ kind: 'post_of_nothing', id }) as const),
      ...compared.flatMap((one) => one.faults),
      ...pickUps.faults,
      ...cutByDeath.flatMap((one) => compareBound(record, one)),
      ...compareCounts(
        record,
        compared.flatMap((one) => one.repeats),
      ),
    ],
    perDeath: cutByDeath.map(({ death, posts: ofDeath }) => ({
      extra: ofDeath.length,
      inFlight: record.posts.filter((post) => isInFlight(post, death)).length,
    })),
    extraPosts: compared.reduce((sum, one) => sum + one.extra, 0),
    pickUpMs: pickUps.longestMs,
  };
}

/** Every event has exactly one row per destination, and nothing has one besides. */
function compareRows({ events, deliveries }: RunRecord): Fault[] {
  const rows = Map.groupBy(deliveries, ({ eventId, destinationId }) => eventId + destinationId);
  const faults: Fault[] = [];
  for (const { eventId, destinationIds } of events) {
    for (const destinationId of destinationIds) {
      const found = rows.get(eventId + destinationId)?.length ?? 0;
      if (found === 0) faults.push({ kind: 'lost', id: eventId });
      if (found > 1) faults.push({ kind: 'two_rows', id: eventId });
      rows.delete(eventId + destinationId);
    }
  }
  for (const [row] of rows.values()) faults.push({ kind: 'not_asked_for', id: row?.id ?? '' });
  return faults;
}

type ComparedPosts = {
  faults: Fault[];
  extra: number;
  /** Posts whose attempts a death kept from being recorded, and those that came in their place. */
  cut: RecordedPost[];
  repeats: RecordedPost[];
};

/** A post has its attempt, unless the death of its sender came between them. */
function comparePosts(
  { id, status, attempts }: RecordedDelivery,
  posts: readonly RecordedPost[],
  deaths: readonly Death[],
): ComparedPosts {
  const extra = posts.length - attempts.length;
  const excused = posts.filter((post) => deaths.some((death) => isInFlight(post, death)));
  const cut = excused.slice(0, Math.max(0, extra));
  const repeats = cut.flatMap((post) => posts[posts.indexOf(post) + 1] ?? []);
  const faults: Fault[] = [];
  if (posts.length === 0 || status !== 'succeeded') faults.push({ kind: 'lost', id });
  if (extra < 0) faults.push({ kind: 'attempt_without_post', id });
  if (extra > cut.length) faults.push({ kind: 'post_without_attempt', id });
  const successAt = attempts.indexOf('succeeded');
  if (successAt !== -1 && successAt < attempts.length - 1) {
    faults.push({ kind: 'sent_after_success', id });
  }
  return { faults, extra: Math.max(0, extra), cut, repeats };
}

/** Sent by the process that died, and neither answered nor, by the time of its answer, recorded. */
function isInFlight(post: RecordedPost, death: Death): boolean {
  return (
    post.sender === death.sender &&
    post.begunMs <= death.atMs + READING_MS_MAX &&
    (post.answeredMs === null || post.answeredMs >= death.atMs - RECORDING_MS_MAX) &&
    // One without an answer belongs to the first death that can have cut it.
    post.begunMs > death.atMs - PICK_UP_MS_MAX
  );
}

type CutByDeath = { death: Death; posts: RecordedPost[] };

/** Each post that a death cut, with the first death of its sender that can have cut it. */
function divideByDeath(deaths: readonly Death[], cut: readonly RecordedPost[]): CutByDeath[] {
  const rest = new Set(cut);
  return deaths
    .filter(({ sender }) => sender !== null)
    .map((death) => {
      const posts = [...rest].filter((post) => isInFlight(post, death));
      for (const post of posts) rest.delete(post);
      return { death, posts };
    });
}

/** A death repeats no more of a lane than its sender may have had in flight in it. */
function compareBound({ deliveries }: RunRecord, { death, posts }: CutByDeath): Fault[] {
  const lanes = new Map(deliveries.map(({ id, laneId }) => [id, laneId]));
  const byLane = Map.groupBy(posts, ({ deliveryId }) => lanes.get(deliveryId));
  return [...byLane].flatMap(([laneId, { length }]) =>
    length > REPEATS_PER_LANE_MAX
      ? [{ kind: 'too_many_repeats', id: `sender ${death.sender}, lane ${laneId}` } as const]
      : [],
  );
}

/** The first post of each delivery comes in time. */
function comparePickUps(
  record: RunRecord,
  posts: ReadonlyMap<string, readonly RecordedPost[]>,
): { faults: Fault[]; longestMs: number } {
  const published = new Map(record.events.map((event) => [event.eventId, event.publishedMs]));
  const troubles = [
    ...record.deaths.map(({ atMs, readyMs }) => ({ fromMs: atMs, toMs: readyMs })),
    ...record.outages,
  ].toSorted((a, b) => a.fromMs - b.fromMs);
  const faults: Fault[] = [];
  let longestMs = 0;
  for (const { id, eventId } of record.deliveries) {
    const first = posts.get(id)?.[0];
    const publishedMs = published.get(eventId);
    if (first === undefined || publishedMs === undefined) continue;
    const waitedMs = first.begunMs - calmSince(publishedMs, first.begunMs, troubles);
    longestMs = Math.max(longestMs, waitedMs);
    if (waitedMs > PICK_UP_MS_MAX) faults.push({ kind: 'late', id });
  }
  return { faults, longestMs };
}

/** From when a delivery has had to be picked up: its event, or the end of a trouble that came before it could be. */
function calmSince(
  publishedMs: number,
  begunMs: number,
  troubles: readonly { fromMs: number; toMs: number }[],
): number {
  let sinceMs = publishedMs;
  for (const { fromMs, toMs } of troubles) {
    if (fromMs > Math.min(begunMs, sinceMs + PICK_UP_MS_MAX)) break;
    sinceMs = Math.max(sinceMs, Math.min(toMs, begunMs));
  }
  return sinceMs;
}

/** A sender's counter, as long as it lived to be read, is not below the requests that it repeated. */
function compareCounts({ counts }: RunRecord, repeats: readonly RecordedPost[]): Fault[] {
  return counts.flatMap(({ sender, fromMs, untilMs, repeats: counted }) => {
    const seen = repeats.filter(
      (post) => post.sender === sender && post.begunMs >= fromMs && post.begunMs < untilMs,
    );
    const id = `sender ${sender}: ${seen.length} repeats, ${counted} counted`;
    return seen.length > counted ? [{ kind: 'uncounted_repeat', id } as const] : [];
  });
}
