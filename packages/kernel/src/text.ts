/**
 * Longest defense of a dispute in code points: what operators may send, and so what the simulated provider takes. No
 * provider publishes a limit.
 */
export const DEFENSE_LENGTH_MAX = 5_000;

const FAILURE_REASON_LENGTH_MAX = 255;

/** Length of a text in Unicode code points, so that an emoji counts once (decision 20). */
export function codePointLength(text: string): number {
  return text.replace(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g, '.').length;
}

/** Cut to the 255 code points that a `failure_reason` may have (decision 105). */
export function cutFailureReason(reason: string): string {
  return [...reason].slice(0, FAILURE_REASON_LENGTH_MAX).join('');
}

/** Whether the text holds a C0 control or DEL; tab and line feed are among them (decisions 19, 246). */
export function hasControlCharacter(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x20 || unit === 0x7f) return true;
  }
  return false;
}

/**
 * Whether a text field may be taken: no control character and no lone surrogate. A lone surrogate
 * has no UTF-8 form, so it would change on its way to a hash, a database or a log (decision 247).
 */
export function isPlainText(text: string): boolean {
  return text.isWellFormed() && !hasControlCharacter(text);
}
