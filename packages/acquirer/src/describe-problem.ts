/** Codes and messages end up in `failure_reason`, which holds 255 characters (decision 105). */
const CODE_LENGTH_MAX = 64;
const MESSAGE_LENGTH_MAX = 180;

/** What cannot be stored is left out: a refusal must not be lost because of a character in its words. */
export function describeProblem(code: string, message: string | null | undefined) {
  return {
    code: storable(code, CODE_LENGTH_MAX),
    message: storable(message ?? code, MESSAGE_LENGTH_MAX),
  };
}

/** Cut between code points: half of a pair of surrogates cannot be stored. */
function storable(text: string, lengthMax: number): string {
  const characters = [...text.toWellFormed().replace(/\p{Cc}/gu, ' ')];
  return characters.slice(0, lengthMax).join('');
}
