/** What `tail` says on stderr once it has shown what the topic held when it began. */
export function describePresentEnd(end: {
  partitions: number;
  read: number;
  shown: number;
  key: string | null;
  untilNow: boolean;
}): string {
  const ofKey = end.key === null ? '' : `, ${end.shown} of this key`;
  const then = end.untilNow ? '' : '; waiting for new ones, Ctrl-C ends';
  return `read to the end of ${end.partitions} partitions, ${end.read} messages${ofKey}${then}`;
}
