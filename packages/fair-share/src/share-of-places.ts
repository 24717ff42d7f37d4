/** Whether an account that holds so many places may have one more where so many are free. */
export type Share = (held: number, free: number) => boolean;

/** All of them: for work that is short, and where each place costs something that is scarce elsewhere. */
export const anyFree: Share = (_held, free) => free > 0;

const FREE_MULTIPLE = 4;

/**
 * Four times as many as are free. So one alone has four fifths of all, two have four ninths each, and the next one
 * finds some: places are held for as long as others take to answer, and who is served next does not matter to one who
 * finds none. As work ends, accounts above what is theirs by now have no further places (ADR 0024).
 */
export const fourTimesFree: Share = (held, free) => held < FREE_MULTIPLE * free;
