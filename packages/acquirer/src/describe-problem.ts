/** Codes and messages end up in `failure_reason`, which holds 255 characters (decision 105). */
const CODE_LENGTH_MAX = 64;
const MESSAGE_LENGTH_MAX = 180;

/** What cannot be stored is left out: a refusal must not be lost because of a character in its words. */
export function describeProblem(code: string, message: string | null | undefined) {
  return {
    code: storable(code).slice(0, CODE_LENGTH_MAX),
    message: storable(message ?? code).slice(0, MESSAGE_LENGTH_MAX),
  };
}

function storable(text: string): string {
  return text.toWellFormed().replace(/\p{Cc}/gu, ' ');
}
