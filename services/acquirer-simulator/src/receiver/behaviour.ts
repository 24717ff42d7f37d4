import { z } from 'zod';

/** A script cannot make the receiver hold more than this. */
const BODY_BYTES_MAX = 1024 ** 3;
const DELAY_MS_MAX = 600_000;
const DRIP_INTERVAL_MS_DEFAULT = 1_000;

/** How one path answers; without one, 200 and an empty body at once. */
export const Behaviour = z.strictObject({
  status: z.int().min(200).max(599).optional(),
  delay_ms: z.int().min(0).max(DELAY_MS_MAX).optional(),
  /** Reads the request and never answers. */
  hang: z.boolean().optional(),
  /** Sends the body byte by byte; a number is the milliseconds between two of them. */
  drip: z.union([z.boolean(), z.int().min(1).max(DELAY_MS_MAX)]).optional(),
  body_bytes: z.int().min(0).max(BODY_BYTES_MAX).optional(),
  /** Value of `Location`; the status is 302 unless given. */
  redirect: z.string().max(2048).optional(),
  /** How many requests it holds for; without it, until changed. */
  times: z.int().min(0).optional(),
});
export type Behaviour = z.infer<typeof Behaviour>;

/** What one request is answered with. `status` null: nothing is ever sent. */
export type PlannedAnswer = {
  status: number | null;
  delayMs: number;
  headers: Record<string, string>;
  bodyBytes: number;
  /** Between two bytes; null sends the body as fast as it is taken. */
  dripIntervalMs: number | null;
};

const REDIRECT_STATUS = 302;
/** A dripping answer needs something to drip. */
const DRIP_BYTES_DEFAULT = 1_024;

export function planAnswer(behaviour: Behaviour): PlannedAnswer {
  const { redirect, drip } = behaviour;
  const status = behaviour.status ?? (redirect === undefined ? 200 : REDIRECT_STATUS);
  const dripIntervalMs = drip === true ? DRIP_INTERVAL_MS_DEFAULT : drip || null;
  return {
    status: behaviour.hang === true ? null : status,
    delayMs: behaviour.delay_ms ?? 0,
    headers: redirect === undefined ? {} : { location: redirect },
    bodyBytes: behaviour.body_bytes ?? (dripIntervalMs === null ? 0 : DRIP_BYTES_DEFAULT),
    dripIntervalMs,
  };
}
