/**
 * What the work comes to, or `late` where it takes longer than `ms`. Late work is not ended: it goes on, and whether
 * it fails by then is left to it. A failure in time is thrown.
 */
export async function within<Outcome, Late>(
  ms: number,
  work: Promise<Outcome>,
  late: Late,
): Promise<Outcome | Late> {
  const expired = Promise.withResolvers<Late>();
  const timer = setTimeout(expired.resolve, ms, late);
  try {
    return await Promise.race([work, expired.promise]);
  } finally {
    clearTimeout(timer);
  }
}
